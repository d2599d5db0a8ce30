import Type, { type TProperties } from 'typebox';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { numberOrNull, orNull, plainTextOrNull, textOrNull, whole, wholeOrNull } from '../../../kit/fields.ts';
import { invalidField } from '../../../problems/problem.ts';
import { events, LABEL_CHARACTERS_MAX } from '../limits.ts';
import { verdictSchema } from '../rules/rule-set.ts';
import { SCORE } from '../score/effect.ts';
import { countsOfKind, factsOf } from '../signals/facts.ts';
import { sentOf } from '../signals/keys.ts';
import type { RiskState } from '../state.ts';

/** A row of each key, and the decision. */
const ROWS = 5;
const BYTES = 8 * 1024;
const CONTEXT_MEMBERS_MAX = 32;

const label = (description: string) => Type.Optional(plainTextOrNull(LABEL_CHARACTERS_MAX, description));
export const keyFields = {
  ip: label('Network address of the person, IPv4 or IPv6; of IPv6 the /64 counts.'),
  email: label('E-mail address; the mailbox counts, whatever its case and +tag.'),
  user_id: label('Your id of the user.'),
  device_id: label('Your id of the device.'),
};

const context = orNull<Record<string, string | number | boolean | null>>(
  {
    type: 'object',
    maxProperties: CONTEXT_MEMBERS_MAX,
    propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' },
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: LABEL_CHARACTERS_MAX },
  },
  `Up to ${CONTEXT_MEMBERS_MAX} plain values for your rules, as context.NAME. Kept with the decision for 30 days: send nothing secret.`,
);

export const verdictFields = {
  risk_id: Type.String({ description: 'Id of the decision.' }),
  ...verdictSchema.properties,
};

/** Signals that are no counts. */
const known: Readonly<Record<string, TProperties>> = {
  ip: {
    kind: Type.String({ description: 'public, private, loopback, link_local, cgnat, documentation, multicast, …' }),
    country: textOrNull('ISO 3166-1 code, by the operator’s database; null without one.'),
    asn: wholeOrNull('Number of the network, by that database.'),
    network: textOrNull('Name of the network, by that database.'),
  },
  email: {
    is_disposable: Type.Boolean({ description: 'The domain gives out throw-away mailboxes.' }),
    has_mx: orNull<boolean>({ type: 'boolean' }, 'MX records of the domain; null: not known in 300 ms, or disposable.'),
  },
};
const keySignals = [...countsOfKind].map(([kind, counts]) => {
  const counted = counts.map(({ name }) => [name, whole(countText(name))]);
  const signals = Type.Object({ ...known[kind], ...Object.fromEntries(counted) });
  return [kind, Type.Union([signals, Type.Null()], { description: `Signals of the ${kind}; null: none was sent.` })];
});

function countText(name: string): string {
  const [what, window] = name.split('_');
  return `${what === 'count' ? 'Calls with it' : `Distinct ${what} seen with it`} in ${window}, this call included.`;
}

export const score = defineCapability<RiskState>()({
  method: 'POST',
  path: '/v1/risk/score',
  summary: 'Scores a sign-up, login, payment or message for risk.',
  description:
    'Send what you know of who acts: at least one of ip, email, user_id and device_id. The answer says allow, review or block, and which of your rules ' +
    'matched. Each call counts: how often each key was seen, and with how many distinct others. Concurrent calls are counted one after the other. An ' +
    'entry of your allow or block list decides alone. Keys are stored as keyed hashes, for 30 days.',
  keywords: ['payment fraud', 'suspicious ip address', 'disposable email check', 'signup abuse', 'velocity check'],
  input: Type.Object({
    event: Type.Enum([...events], { description: 'What the person does.' }),
    ...keyFields,
    amount_usd: Type.Optional(numberOrNull('What is paid, for your rules.')),
    context: Type.Optional(context),
  }),
  output: Type.Object({
    ...verdictFields,
    signals: Type.Object(
      {
        event: Type.String({ description: 'As sent.' }),
        amount_usd: numberOrNull('As sent.'),
        ...Object.fromEntries(keySignals),
        context: Type.Unknown({ description: 'As sent.' }),
      },
      { description: 'What the rules saw.' },
    ),
  }),
  price: SCORE,
  events: ['wallet.low_balance'],
  opaque: ['context'],
  limits: { windows: 'The running step and the 59 before it: steps of 1 s, 1 min, 24 min and 168 min.' },
  examples: [
    {
      title: 'A login',
      input: { event: 'login', ip: '203.0.113.7', user_id: 'u-17', device_id: 'd-5' },
      expect: { action: 'allow', score: 10 },
    },
    {
      title: 'A sign-up with a throw-away mailbox',
      input: { event: 'signup', email: 'joe@mailinator.com', context: { plan: 'free' } },
      expect: { action: 'review' },
    },
  ],
  async run({ ctx, input, state }) {
    const sent = sentOf(input);
    const keys = state.hashes.of(ctx.accountId, sent);
    if (keys.length === 0)
      throw invalidField('ip', 'required', 'Send at least one of ip, email, user_id and device_id.');
    const facts = await factsOf(state, input, sent);
    return chargeInLane(ctx, {
      units: 1n,
      effect: state.scoring,
      sequences: 1,
      bytes: BYTES,
      rows: ROWS,
      input: { sent, keys, facts },
    });
  },
});
