// What alerts watch of errors: groups that are new or came back, or events, in a window.
import Type, { type Static } from 'typebox';
import type { Queryable } from '../../db/database.ts';
import { type SqlValue, type Statement, statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { type AlertLook, type AlertSeries, alertSource, lookAtEach } from '../../kit/alert-source.ts';
import { sequenceAt } from '../../lib/sequence.ts';
import { invalidField } from '../../problems/problem.ts';
import { environments, levels } from './limits.ts';
import type { ErrorsState } from './state.ts';

const WINDOW_SECONDS = 300;
/** Events are counted up to here, and groups listed. */
const EVENTS_MAX = 100_000;
const SERIES_MAX = 1_000;
const PAST_MS = 10_000;
const measures = ['new', 'regressed', 'count'] as const;

const schema = Type.Object(
  {
    measure: Type.Enum([...measures], {
      description: 'new: groups whose first event came; regressed: resolved groups that came back; count: events.',
    }),
    environment: Type.Optional(Type.Enum([...environments], { description: 'Where it happened.' })),
    level: Type.Optional(Type.Enum([...levels], { description: 'How grave it is, exactly.' })),
    window_seconds: Type.Optional(
      Type.Integer({
        minimum: 30,
        maximum: 86_400,
        default: WINDOW_SECONDS,
        description: `What came in the last so many seconds; ${WINDOW_SECONDS} when not sent.`,
      }),
    ),
  },
  {
    description:
      'New or returned groups of errors, or events. by: error_group_id; of count also environment, level and release.',
  },
);

type When = Static<typeof schema>;

const GROUP = 'error_group_id';

// Without $6 to $9 all of them are one.
const countEvents = statement(
  'errors_alert_events',
  `SELECT CASE WHEN $6 THEN e.group_id END AS group_id, CASE WHEN $7 THEN e.environment END AS environment,
          CASE WHEN $8 THEN e.level END AS level, CASE WHEN $9 THEN e.release END AS release, count(*)::int AS counted
     FROM (SELECT v.group_id, v.environment, v.level, v.release FROM errors.event v
            WHERE v.account_id = $1 AND v.seq >= $2 AND v.seq < $3
              AND ($4::text IS NULL OR v.environment = $4) AND ($5::text IS NULL OR v.level = $5)
            LIMIT ${EVENTS_MAX}) e
    GROUP BY 1, 2, 3, 4 ORDER BY counted DESC LIMIT ${SERIES_MAX}`,
);
const listNew = statement(
  'errors_alert_new',
  `SELECT g.group_id FROM errors.error_group g
    WHERE g.account_id = $1 AND g.last_seq > 0 AND g.group_id >= $2 AND g.group_id < $3 AND NOT g.is_ignored
      AND ($5::text IS NULL OR g.level = $5)
      AND ($4::text IS NULL OR EXISTS (SELECT 1 FROM errors.event e WHERE e.account_id = $1 AND e.group_id = g.group_id
                                          AND e.seq >= $2 AND e.seq < $3 AND e.environment = $4))
    ORDER BY g.group_id LIMIT ${SERIES_MAX}`,
);
// What came back has an event of the window.
const listRegressed = statement(
  'errors_alert_regressed',
  `SELECT g.group_id FROM errors.error_group g
    WHERE g.account_id = $1 AND g.count > 0 AND g.last_seq >= $2 AND NOT g.is_ignored
      AND ($5::text IS NULL OR g.level = $5)
      AND ($4::text IS NULL OR EXISTS (SELECT 1 FROM errors.event e WHERE e.account_id = $1 AND e.group_id = g.group_id
                                          AND e.seq >= $2 AND e.seq < $3 AND e.environment = $4))
      AND EXISTS (SELECT 1 FROM errors.activity a WHERE a.account_id = $1 AND a.group_id = g.group_id AND a.type = 'reopened'
                     AND a.created_at >= $6 AND a.created_at < $7)
    ORDER BY g.group_id LIMIT ${SERIES_MAX}`,
);

export const errorsSource = alertSource<ErrorsState>()({
  name: 'errors',
  capability: 'errors.list',
  by: [GROUP, 'environment', 'level', 'release'],
  schema,
  async check(_state, _ctx, { when, by }) {
    const foreign = when.measure === 'count' ? undefined : by.find((name) => name !== GROUP);
    if (foreign !== undefined)
      throw invalidField(
        'by',
        'enum',
        `Groups that are ${when.measure} are told apart by ${GROUP} alone, not by ${foreign}.`,
      );
    return [];
  },
  look,
  past: (state, looks) => lookAtEach(looks, performance.now() + PAST_MS, (each) => look(state, each)),
});

interface EventsRow {
  readonly group_id: bigint | null;
  readonly environment: string | null;
  readonly level: string | null;
  readonly release: string | null;
  readonly counted: number;
}

async function look(
  { core: { db }, ids }: ErrorsState,
  { accountId, when, by, atMs }: AlertLook<When>,
): Promise<readonly AlertSeries[]> {
  const { measure, environment = null, level = null, window_seconds: seconds = WINDOW_SECONDS } = when;
  const fromMs = atMs - seconds * 1_000;
  const values = [accountId, sequenceAt(fromMs), sequenceAt(atMs), environment, level];
  const groupId = (id: bigint | null) => (id === null ? '' : ids.groupId(accountId, id));
  if (measure !== 'count') {
    const groups =
      measure === 'new'
        ? await groupsOf(db, listNew, values)
        : await groupsOf(db, listRegressed, [...values, timestamp(fromMs), timestamp(atMs)]);
    if (by.length === 0) return [{ labels: {}, value: groups.length }];
    return groups.map((id) => ({ labels: { [GROUP]: groupId(id) }, value: 1 }));
  }
  const wanted = [GROUP, 'environment', 'level', 'release'].map((name) => by.includes(name));
  const { rows } = await db.query<EventsRow>(countEvents, [...values, ...wanted]);
  if (rows.length === 0 && by.length === 0) return [{ labels: {}, value: 0 }];
  const labelOf = (row: EventsRow, name: string) =>
    name === GROUP ? groupId(row.group_id) : (row[name as 'environment' | 'level' | 'release'] ?? '');
  return rows.map((row) => ({
    labels: Object.fromEntries(by.map((name) => [name, labelOf(row, name)])),
    value: row.counted,
  }));
}

async function groupsOf(db: Queryable, list: Statement, values: readonly SqlValue[]): Promise<bigint[]> {
  return (await db.query<{ group_id: bigint }>(list, values)).rows.map(({ group_id }) => group_id);
}
