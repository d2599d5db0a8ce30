import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant } from '../../../kit/fields.ts';
import { invalidField } from '../../../problems/problem.ts';
import { countsOf, countsSchema } from '../schemas.ts';
import { BUCKETS_MAX, countByTime, usualIntervalMs } from '../search/histogram.ts';
import { filterFields, questionOf } from '../search/question.ts';
import type { LogsState } from '../state.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const startOfMinute = (ms: number) => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

export const histogram = defineCapability<LogsState>()({
  method: 'GET',
  path: '/v1/logs/histogram',
  summary: 'Counts log records over time, by level.',
  description:
    'How many records match the filters of logs.search in each interval. Intervals begin at whole multiples of their length (UTC); those without records are left out. ' +
    'Without q, service, trace_id and filter, and in whole minutes, no record is read. is_complete is false when 5 s were not enough: then the latest part was counted.',
  keywords: ['logs over time', 'error rate of logs', 'count log lines', 'log volume chart'],
  input: Type.Object({
    ...filterFields,
    interval_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, description: 'Absent: the one that gives some 60 intervals.' }),
    ),
  }),
  output: Type.Object({
    interval_seconds: Type.Integer({ description: 'Length of an interval.' }),
    from: instant('Where counting begins.'),
    to: instant('Where it ends.'),
    total: Type.Integer({ description: 'Records of all intervals.' }),
    is_complete: Type.Boolean({ description: 'Whether all of the time was counted.' }),
    buckets: Type.Array(
      Type.Object({
        at: instant('Where the interval begins.'),
        total: Type.Integer({ description: 'Its records.' }),
        counts: countsSchema,
      }),
      { description: 'Intervals with records, in the order of time.' },
    ),
  }),
  opaque: ['filter', 'attributes'],
  limits: { intervals: `At most ${BUCKETS_MAX}.`, period: 'The last 24 hours when from is absent.' },
  examples: [
    {
      title: 'The last day by hours',
      before: [{ capability: 'logs.ingest', input: { items: [{ message: 'started' }] } }],
      input: { interval_seconds: 3600 },
      expect: { total: 1, is_complete: true },
    },
  ],
  async run({ ctx, input, state }) {
    const { core, accountId, signal } = ctx;
    const { interval_seconds: seconds, ...filters } = input;
    const nowMs = await clockNow(core.db);
    const asked = questionOf(filters, nowMs);
    const fromMs = Math.max(
      filters.from === undefined ? startOfMinute(Math.min(nowMs, asked.toMs) - DAY_MS) : asked.fromMs,
      await state.store.firstKeptMs(accountId),
    );
    const question = { ...asked, fromMs, toMs: Math.max(asked.toMs, fromMs) };
    const spanMs = Math.min(question.toMs, nowMs) - fromMs;
    const intervalMs = seconds === undefined ? usualIntervalMs(spanMs) : seconds * 1_000;
    if (spanMs / intervalMs > BUCKETS_MAX) {
      const message = `interval_seconds must be longer: the time has more than ${BUCKETS_MAX} intervals.`;
      throw invalidField('interval_seconds', 'minimum', message);
    }
    const { buckets, isComplete } = await countByTime(state, accountId, question, intervalMs, signal);
    const entries = [...buckets].sort(([a], [b]) => a - b);
    const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0);
    return {
      data: {
        interval_seconds: intervalMs / 1_000,
        from: new Date(fromMs).toISOString(),
        to: new Date(question.toMs).toISOString(),
        total: entries.reduce((all, [, counts]) => all + sum(counts), 0),
        is_complete: isComplete,
        buckets: entries.map(([atMs, counts]) => ({
          at: new Date(atMs).toISOString(),
          total: sum(counts),
          counts: countsOf(counts),
        })),
      },
    };
  },
});
