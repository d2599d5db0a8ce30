// What alerts watch of logs: how many records of a window match a search.
import Type, { type Static } from 'typebox';
import { type AlertLook, type AlertSeries, alertSource, lookAtEach } from '../../kit/alert-source.ts';
import { invalidField } from '../../problems/problem.ts';
import { levels } from './records/levels.ts';
import { countByTime, USED_COLUMNS } from './search/histogram.ts';
import { filterFields, marksOf, type Question, questionOf, tooLate } from './search/question.ts';
import { countFields } from './search/scan.ts';
import type { LogsState } from './state.ts';

const WINDOW_SECONDS = 300;
const LOOK_MS = 5_000;
const PAST_MS = 10_000;

const schema = Type.Object(
  {
    q: filterFields.q,
    level: filterFields.level,
    service: filterFields.service,
    attributes: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          maxProperties: 16,
          description: 'Values of attributes, by name; all must match.',
        },
      ),
    ),
    window_seconds: Type.Optional(
      Type.Integer({
        minimum: 30,
        maximum: 86_400,
        default: WINDOW_SECONDS,
        description: `Records of the last so many seconds are counted; ${WINDOW_SECONDS} when not sent.`,
      }),
    ),
  },
  { description: 'How many records match, as logs.search finds them. by: level or service.' },
);

type When = Static<typeof schema>;

export const logsSource = alertSource<LogsState>()({
  name: 'logs',
  capability: 'logs.search',
  by: ['level', 'service'],
  schema,
  async check(_state, _ctx, { when, by }) {
    if (by.length > 1)
      throw invalidField('by', 'maxItems', 'A rule of logs counts by level or by service, not by both.');
    questionAt(when, Date.now());
    return [];
  },
  look,
  past: (state, looks) => lookAtEach(looks, performance.now() + PAST_MS, (each) => look(state, each)),
});

function questionAt({ q, level, service, attributes, window_seconds: seconds = WINDOW_SECONDS }: When, atMs: number) {
  const question = questionOf({ q, level, service, filter: attributes }, atMs);
  return { ...question, fromMs: atMs - seconds * 1_000, toMs: atMs };
}

async function look(
  state: LogsState,
  { accountId, when, by, atMs, signal }: AlertLook<When>,
): Promise<readonly AlertSeries[]> {
  const asked = questionAt(when, atMs);
  const question = { ...asked, fromMs: Math.max(asked.fromMs, await state.store.firstKeptMs(accountId)) };
  if (by[0] === 'service') return countServices(state, accountId, question, signal);
  const { buckets, isComplete } = await countByTime(state, accountId, question, 60_000, signal);
  if (!isComplete) throw tooLate();
  const counts = levels.map((_, i) => buckets.values().reduce((sum, bucket) => sum + (bucket[i] as number), 0));
  if (by.length === 0) return [{ labels: {}, value: counts.reduce((sum, records) => sum + records, 0) }];
  return counts.flatMap((value, i) => (value === 0 ? [] : [{ labels: { level: levels[i] as string }, value }]));
}

async function countServices({ store }: LogsState, accountId: string, question: Question, signal: AbortSignal) {
  const { fromMs, toMs } = question;
  const refs = await store.list(accountId, { fromMs, toMs, marks: marksOf(question) });
  const giveUpAt = performance.now() + LOOK_MS;
  const counts = new Map<string, number>();
  const work = { columns: USED_COLUMNS, task: countFields, args: { question }, tooLate };
  for await (const { services } of store.scan(accountId, refs, work, signal)) {
    for (const [service, records] of services) counts.set(service, (counts.get(service) ?? 0) + records);
    if (performance.now() > giveUpAt) throw tooLate();
  }
  return [...counts].map(([service, value]) => ({ labels: { service }, value }));
}
