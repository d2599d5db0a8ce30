import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { candidatesOf } from '../lists/entries.ts';
import { scoreFields, scoreResultSchema } from '../schemas.ts';
import { SCORE } from '../score/effect.ts';
import { factsOf } from '../signals/facts.ts';
import type { RiskState } from '../state.ts';

/** A row of each key and pair, and the decision. */
const ROWS = 11;
const BYTES = 8 * 1024;

export const score = defineCapability<RiskState>()({
  method: 'POST',
  path: '/v1/risk/score',
  summary: 'Scores a sign-up, login, payment or message for risk.',
  description:
    'Send what you know of who acts: at least one of ip, email, user_id and device_id. The answer says allow, review or block, and which of your rules ' +
    'matched with which points. Calls count: how often each key was seen, and with how many distinct others, in 1 minute, 1 hour, 24 hours and 7 days, this call ' +
    'included. Concurrent calls are counted one after the other. An entry of your allow or block list decides alone. Keys are stored as keyed hashes, for 30 days.',
  keywords: [
    'fraud score',
    'suspicious ip address',
    'disposable email check',
    'signup abuse',
    'bot login',
    'payment fraud',
    'velocity check',
  ],
  input: scoreFields,
  output: scoreResultSchema,
  price: SCORE,
  events: ['wallet.low_balance'],
  opaque: ['context'],
  limits: {
    windows: 'A window is its running step and the 59 before it: steps of 1 s, 1 min, 24 min and 168 min.',
    retention: '30 days.',
  },
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
    const keys = state.hashes.ofCall(ctx.accountId, input);
    const sent = keys.filter((key) => key !== null);
    if (sent.length === 0)
      throw invalidField('ip', 'required', 'Send at least one of ip, email, user_id and device_id.');
    const facts = await factsOf(state, input);
    return chargeInLane(ctx, {
      ...{ units: 1n, effect: state.scoring, sequences: 1, bytes: BYTES, rows: ROWS },
      input: { candidates: candidatesOf(input), keys: sent, facts },
    });
  },
});
