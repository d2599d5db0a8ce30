import Type from 'typebox';
import { clockNow } from '../../../../core/database-clock.ts';
import type { AlertStep, BoundAlertSource } from '../../../../kit/alert-source.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instant, whole } from '../../../../kit/fields.ts';
import type { Offer } from '../../../../kit/offer.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { iso } from '../../../../lib/time.ts';
import { RULE_BYTES_MAX, TRY_CHANGES_MAX, TRY_MS, TRY_STEPS_MAX } from '../../limits.ts';
import { judge } from '../../looks/judge.ts';
import { conditionOf, type ReadCondition, readCondition } from '../../rules/read-rule.ts';
import type { SeriesState } from '../../rules/row.ts';
import { changedSeriesSchema, conditionFields, seriesSchema, states } from '../../schemas.ts';
import type { AlertsState } from '../../state.ts';

const triedChange = Type.Object({
  at: instant('The step at which it would have changed.'),
  state_before: Type.Enum([...states], { description: 'State of the rule before.' }),
  state: Type.Enum([...states], { description: 'State of the rule since.' }),
  series: Type.Array(changedSeriesSchema, { description: 'Series that would have changed.' }),
});

export const tryRule = (offer: Pick<Offer, 'alertSources'>) =>
  defineCapability<AlertsState>()({
    method: 'POST',
    path: '/v1/alerts/rule/try',
    isLongRead: true,
    summary: 'Tries an alert rule on the last 24 hours.',
    description:
      'Says when the rule would have fired and ended, without setting it or telling anybody. Takes what alerts.rule.set takes of the condition. ' +
      'Schedules, webhooks and dead letters have no past: they are looked at once, as they are now.',
    keywords: ['test alert rule', 'dry run of a rule', 'backtest alert', 'preview alert'],
    input: Type.Object(conditionFields(offer.alertSources)),
    output: Type.Object({
      from: instant('The first step.'),
      to: instant('The last step; earlier than now where the time for it was up.'),
      step_seconds: whole('From one step to the next: every_seconds, or more where a day has too many of them.'),
      steps: whole('Steps that were looked at.'),
      fired: whole('How often a series would have begun to fire.'),
      changes: Type.Array(triedChange, { description: `What would have changed, the first ${TRY_CHANGES_MAX} of it.` }),
      series: Type.Array(seriesSchema, { description: 'The series at the end.' }),
      is_complete: Type.Boolean({ description: 'False: the time for it was up, or there were more changes.' }),
    }),
    bodyBytesMax: RULE_BYTES_MAX,
    opaque: ['attributes'],
    errors: [...new Set(offer.alertSources.flatMap(({ errors = [] }) => errors))],
    limits: { steps: `At most ${TRY_STEPS_MAX}.`, time: 'Ends after some 10 s.' },
    examples: [
      {
        title: 'Had the log had errors?',
        input: { when: { logs: { level: 'error' } }, above: 5, every_seconds: 3_600 },
        expect: { step_seconds: 3_600, fired: 0, is_complete: true },
      },
    ],
    async run({ ctx, input }) {
      const read = await readCondition(ctx, input);
      return { data: judgeSteps(read, await lookBack(ctx, read, await clockNow(ctx.core.db))) };
    },
  });

interface LookedBack {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly steps: readonly AlertStep[];
}

async function lookBack(ctx: CallContext, read: ReadCondition, nowMs: number): Promise<LookedBack> {
  const { source, fields: when, by, everySeconds } = read;
  const everyMs = everySeconds * 1_000;
  // A multiple of every_seconds, as the steps of the rule are.
  const stepMs = everyMs * Math.max(1, Math.ceil(TRY_MS / (TRY_STEPS_MAX - 1) / everyMs));
  const toMs = Math.floor(nowMs / everyMs) * everyMs;
  const fromMs = toMs - Math.floor(TRY_MS / stepMs) * stepMs;
  const asked = { accountId: ctx.accountId, when, by, signal: ctx.signal };
  const steps = await pastOf(source, { ...asked, fromMs, toMs, stepMs });
  if (steps.length > 0) return { fromMs, toMs, stepMs, steps };
  ctx.warnings.push(
    `when.${source.name}: it has no past that could be looked at. It was looked at once, as it is now.`,
  );
  return { fromMs: toMs, toMs, stepMs, steps: [{ atMs: toMs, series: await source.look({ ...asked, atMs: toMs }) }] };
}

async function pastOf(
  { past }: BoundAlertSource,
  looks: Parameters<NonNullable<BoundAlertSource['past']>>[0],
): Promise<readonly AlertStep[]> {
  return past === null ? [] : past(looks);
}

function judgeSteps(read: ReadCondition, { fromMs, toMs, stepMs, steps }: LookedBack) {
  const condition = conditionOf(read);
  const changes: object[] = [];
  let series: readonly SeriesState[] = [];
  let state: (typeof states)[number] = 'ok';
  let fired = 0;
  for (const { atMs, series: found } of steps) {
    const judged = judge(series, found, condition, atMs);
    fired += judged.changes.filter((change) => change.state === 'firing').length;
    if (judged.changes.length > 0) {
      const changed = judged.changes.map(({ labels, before, state: after, value }) => ({
        labels,
        state_before: before,
        state: after,
        value,
      }));
      changes.push({ at: iso(atMs), state_before: state, state: judged.state, series: changed.slice(0, 20) });
    }
    ({ series, state } = judged);
  }
  const lastMs = steps.at(-1)?.atMs ?? toMs;
  return {
    from: iso(fromMs),
    to: iso(lastMs),
    step_seconds: stepMs / 1_000,
    steps: steps.length,
    fired,
    changes: changes.slice(0, TRY_CHANGES_MAX),
    series: series.map(({ labels, state: of, sinceMs, value }) => ({ labels, state: of, since: iso(sinceMs), value })),
    is_complete: lastMs + stepMs > toMs && changes.length <= TRY_CHANGES_MAX,
  };
}
