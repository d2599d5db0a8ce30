import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { RULES_BODY_BYTES_MAX, TRIED_DECISIONS } from '../limits.ts';
import { rulesInput, sentRules } from '../rules/record.ts';
import { tryRules } from '../rules/try-rules.ts';
import type { RiskState } from '../state.ts';

const whole = (description: string) => Type.Integer({ minimum: 0, description });
const split = (description: string) =>
  Type.Object({ allow: whole('Allowed.'), review: whole('To review.'), block: whole('Blocked.') }, { description });

export const rulesTry = defineCapability<RiskState>()({
  method: 'POST',
  path: '/v1/risk/rules/try',
  isLongRead: true,
  summary: 'Tries rules against the latest decisions, and saves nothing.',
  description: `Runs rules and thresholds over the signals of the last ${TRIED_DECISIONS.toLocaleString('en-US')} decisions and says what would have come out. What a list entry decided stays.`,
  keywords: ['test fraud rules', 'backtest rules', 'dry run'],
  input: rulesInput,
  output: Type.Object({
    decisions: whole('How many were looked at.'),
    before: split('As they were decided.'),
    after: split('As these rules decide.'),
    changed: whole('Decisions whose action changes.'),
    rules: Type.Array(
      Type.Object({ id: Type.String({ description: 'Of the rule.' }), matched: whole('Decisions that it matches.') }),
      { description: 'Each rule that was sent.' },
    ),
    examples: Type.Array(
      Type.Object({
        risk_id: Type.String({ description: 'Of the decision.' }),
        before: Type.String({ description: 'Its action.' }),
        after: Type.String({ description: 'The action by these rules.' }),
        score: whole('The score by these rules.'),
      }),
      { description: 'Up to 20 that change, the latest first.' },
    ),
  }),
  bodyBytesMax: RULES_BODY_BYTES_MAX,
  examples: [
    {
      title: 'A new threshold',
      before: [{ capability: 'risk.score', input: { event: 'login', ip: '203.0.113.7', user_id: 'u-17' } }],
      input: {
        thresholds: { review: 5, block: 90 },
        rules: [{ id: 'not_public', points: 10, when: { '!=': [{ var: 'ip.kind' }, 'public'] } }],
      },
    },
  ],
  run: async ({ ctx, input, state }) => ({ data: await tryRules(state, ctx.accountId, sentRules(input)) }),
});
