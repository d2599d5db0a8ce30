import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { FUNNEL_FILTERS_MAX, STEPS_MAX, WINDOW_SECONDS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { checkFilter, filterSchema } from '../queries/filter.ts';
import { funnelOf } from '../queries/funnel.ts';
import { ask, periodFields, periodOf } from '../queries/period.ts';
import type { AnalyticsState } from '../state.ts';
import { breakdownField, eventField } from './questions.ts';

const WINDOW_SECONDS = 14 * 86_400;

export const funnel = defineCapability<AnalyticsState>()({
  method: 'POST',
  path: '/v1/analytics/funnel',
  summary: 'Counts how many people went from step to step.',
  description:
    'A person reaches a step with an event that comes after that of the step before, with other events between or not, within window_seconds of their first step. ' +
    'One event is one step. With breakdown a person counts under the value of their first event of the first step in the period.',
  keywords: ['conversion rate', 'drop off', 'checkout funnel', 'onboarding steps'],
  isLongRead: true,
  input: Type.Object({
    steps: Type.Array(Type.Object({ event: eventField('Name of an event.'), filter: filterSchema }), {
      minItems: 2,
      maxItems: STEPS_MAX,
      description: 'Steps in their order.',
    }),
    ...periodFields,
    window_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: WINDOW_SECONDS_MAX,
        description: 'From the first step to the last; 14 days when absent.',
      }),
    ),
    breakdown: breakdownField,
  }),
  output: Type.Object({
    series: Type.Array(
      Type.Object({
        breakdown: textOrNull('Value of the property; null: no breakdown, people without it, or the others.'),
        is_other: Type.Boolean({ description: 'Whether these are all values beyond the 20 most frequent.' }),
        steps: Type.Array(
          Type.Object({
            event: Type.String({ description: 'Name of the event.' }),
            people: Type.Integer({ description: 'People who reached the step.' }),
            conversion: Type.Number({ description: 'Their share of those of the first step, 0 to 1.' }),
          }),
        ),
      }),
    ),
  }),
  errors: ['QUERY_TOO_LARGE', 'CONCURRENCY_LIMITED'],
  limits: { query: '10 million events, 10 s, two at a time.', steps: '2 to 10, with 20 conditions in all.' },
  examples: [
    {
      title: 'From a sign-up to a plan',
      before: [
        { capability: 'analytics.capture', input: { event: 'signed_up', distinct_id: 'f1' } },
        { capability: 'analytics.capture', input: { event: 'plan_chosen', distinct_id: 'f1' } },
      ],
      input: { steps: [{ event: 'signed_up' }, { event: 'plan_chosen' }], window_seconds: 86_400 },
    },
  ],
  async run({ ctx, input, state }) {
    const steps = input.steps.map(({ event, filter = [] }) => ({ event, filter }));
    for (const [i, { filter }] of steps.entries()) checkFilter(filter, `steps[${i}].filter`);
    const conditions = steps.reduce((sum, { filter }) => sum + filter.length, 0);
    if (conditions > FUNNEL_FILTERS_MAX) {
      const message = `The steps have ${conditions} conditions; a funnel may have at most ${FUNNEL_FILTERS_MAX}.`;
      throw problem('INVALID_REQUEST', { param: 'steps', message });
    }
    const asked = {
      steps,
      breakdown: input.breakdown ?? null,
      includeBots: input.include_bots === true,
      windowMs: (input.window_seconds ?? WINDOW_SECONDS) * 1_000,
    };
    const lines = await ask(ctx, state, await periodOf(ctx, input), (question) => funnelOf(question, asked));
    const none = { value: null, isOther: false, counts: steps.map(() => 0) };
    const series = (lines.length === 0 ? [none] : lines).map(({ value, isOther, counts }) => ({
      breakdown: value,
      is_other: isOther,
      steps: counts.map((people, i) => ({
        event: (steps[i] as (typeof steps)[number]).event,
        people,
        conversion: counts[0] === 0 ? 0 : people / (counts[0] as number),
      })),
    }));
    return { data: { series } };
  },
});
