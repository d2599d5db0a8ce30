import { setImmediate as breathe } from 'node:timers/promises';
import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import type { Queryable } from '../../../db/database.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, orNull, whole } from '../../../kit/fields.ts';
import { isoOrNull } from '../../../lib/time.ts';
import { type Action, actions, LABEL_CHARACTERS_MAX } from '../limits.ts';
import { defaultRules } from '../rules/default-rules.ts';
import { RuleSet, type Rules, rulesSchema, verdictSchema } from '../rules/rule-set.ts';
import { requireSense } from '../rules/sense.ts';
import { readSettings, type Settings, saveRules } from '../rules/settings.ts';
import { decisionOf, listDecisions } from '../score/decisions.ts';
import type { Signals } from '../signals/facts.ts';

const TRIED_DECISIONS = 1_000;
/** Between these other calls go on. */
const TRIED_AT_ONCE = 100;
const EXAMPLES_MAX = 20;
/** Members of a call that is made up, and of each of its keys. */
const SIGNALS_MAX = 64;

const rulesOutput = Type.Object({
  ...rulesSchema.properties,
  is_default: Type.Boolean({ description: 'Whether these are the rules of an account that has set none.' }),
  revision: whole('Grows with every change.'),
  updated_at: instantOrNull('Null: never set.'),
});

function rulesRecord({ own, revision, updatedAtMs }: Settings) {
  const shown = { is_default: own === null, revision: Number(revision), updated_at: isoOrNull(updatedAtMs) };
  return { ...(own ?? defaultRules), ...shown };
}

export const rulesGet = defineCapability()({
  method: 'GET',
  path: '/v1/risk/rules/get',
  summary: 'Shows the rules and thresholds of the account.',
  description: 'The default ones while none were set: they show how rules are written.',
  keywords: ['show fraud rules', 'risk thresholds'],
  input: Type.Object({}),
  output: rulesOutput,
  examples: [{ title: 'Those of a new account', input: {}, expect: { is_default: true, revision: 0 } }],
  run: async ({ ctx }) => ({ data: rulesRecord(await readSettings(ctx.core.db, ctx.accountId)) }),
});

export const rulesSet = defineCapability()({
  method: 'PUT',
  path: '/v1/risk/rules/set',
  summary: 'Replaces the rules and thresholds of the account.',
  description:
    'A rule is JsonLogic over the signals that risk.score answers; where it matches, its points are added. All rules are replaced at once, and count from ' +
    'the next call on. Try them with risk.rules.try first. A comparison with null follows JsonLogic, where null is 0. A condition that is the ' +
    'same of every call, such as a text, is refused with its place; true and false stand for always and never.',
  keywords: ['set fraud rules', 'jsonlogic rules', 'block threshold'],
  input: rulesSchema,
  output: rulesOutput,
  limits: { rules: '50, of up to 500 values and operators together; texts of 64 characters.' },
  examples: [
    {
      title: 'A rule',
      input: {
        thresholds: { review: 30, block: 60 },
        rules: [{ name: 'many_users', points: 40, when: { '>': [{ var: 'ip.users_1h' }, 3] } }],
      },
      expect: { is_default: false },
    },
  ],
  run: ({ ctx, input: { thresholds, rules } }) => {
    new RuleSet({ thresholds, rules });
    requireSense({ thresholds, rules });
    return runWrite(ctx, async (tx, { nowMs }) => {
      await saveRules(tx, ctx.accountId, { thresholds, rules }, nowMs);
      return rulesRecord(await readSettings(tx, ctx.accountId));
    });
  },
});

const plainSignal = { type: ['string', 'number', 'boolean', 'null'], maxLength: LABEL_CHARACTERS_MAX };
const signalMembers = { type: 'object', maxProperties: SIGNALS_MAX, additionalProperties: plainSignal };
const madeUpSignals = orNull<Signals>(
  { type: 'object', maxProperties: SIGNALS_MAX, additionalProperties: { anyOf: [plainSignal, signalMembers] } },
  'Signals of one call, such as `{"event": "login", "ip": {"users_1h": 9}}`: the rules decide it instead of the latest decisions. Counts are not looked up.',
);

const split = (description: string) =>
  Type.Object({ allow: whole('Allowed.'), review: whole('To review.'), block: whole('Blocked.') }, { description });

export const rulesTry = defineCapability()({
  method: 'POST',
  path: '/v1/risk/rules/try',
  isLongRead: true,
  summary: 'Tries rules against the latest decisions, and saves nothing.',
  description: `Runs rules and thresholds over the signals of the last ${TRIED_DECISIONS.toLocaleString('en-US')} decisions and says what would have come out; or over \`signals\` that you make up. What a list entry decided stays.`,
  keywords: ['test fraud rules', 'backtest rules', 'dry run'],
  input: Type.Object({ ...rulesSchema.properties, signals: Type.Optional(madeUpSignals) }),
  output: Type.Object({
    decisions: whole('How many were looked at.'),
    before: split('As they were decided.'),
    after: split('As these rules decide.'),
    changed: whole('Decisions whose action changes.'),
    rules: Type.Array(
      Type.Object({ name: Type.String({ description: 'Of the rule.' }), matched: whole('Decisions that it matches.') }),
      { description: 'Each rule that was sent.' },
    ),
    examples: Type.Array(
      Type.Object({
        risk_id: Type.String({ description: 'Of the decision.' }),
        before: Type.String({ description: 'Its action.' }),
        after: Type.String({ description: 'The action by these rules.' }),
        score: whole('The score by these rules.'),
      }),
      { description: `Up to ${EXAMPLES_MAX} that change, the latest first.` },
    ),
    verdict: Type.Union([verdictSchema, Type.Null()], {
      description: 'What the rules make of `signals`; null: none were sent.',
    }),
  }),
  examples: [
    {
      title: 'A new threshold',
      input: {
        thresholds: { review: 5, block: 90 },
        rules: [{ name: 'not_public', points: 10, when: { '!=': [{ var: 'ip.kind' }, 'public'] } }],
      },
    },
  ],
  run: async ({ ctx, input: { signals = null, ...rules } }) => ({
    data: await tryRules(ctx.core.db, ctx, rules, signals),
  }),
});

/** Rules over the signals of past decisions, or over those of one call. */
async function tryRules(db: Queryable, owner: { readonly accountId: string }, rules: Rules, signals: Signals | null) {
  const set = new RuleSet(rules);
  requireSense(rules);
  const past = signals === null ? await listDecisions(db, owner, { after: null, limit: TRIED_DECISIONS }) : [];
  const matched = new Map(rules.rules.map(({ name }) => [name, 0]));
  const tried: { risk_id: string; before: Action; after: Action; score: number }[] = [];
  for (const [i, row] of past.entries()) {
    if (i % TRIED_AT_ONCE === TRIED_AT_ONCE - 1) await breathe();
    const { risk_id, action: before, reasons, signals } = decisionOf(row);
    const verdict = set.decide(signals);
    const isListed = reasons[0]?.rule.startsWith('list:') === true;
    for (const { rule } of verdict.reasons) matched.set(rule, (matched.get(rule) ?? 0) + 1);
    tried.push({ risk_id, before, after: isListed ? before : verdict.action, score: verdict.score });
  }
  const splitBy = (when: 'before' | 'after') =>
    Object.fromEntries(actions.map((action) => [action, tried.filter((each) => each[when] === action).length]));
  const changed = tried.filter(({ before, after }) => before !== after);
  return {
    decisions: tried.length,
    before: splitBy('before'),
    after: splitBy('after'),
    changed: changed.length,
    rules: [...matched].map(([name, count]) => ({ name, matched: count })),
    examples: changed.slice(0, EXAMPLES_MAX),
    verdict: signals === null ? null : set.decide(signals),
  };
}
