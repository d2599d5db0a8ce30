// One search per process for work that became due elsewhere or by time. One search for each loop asked 45 times a second while idle. It only
// tells which loops to run: they find and claim work themselves, and otherwise look rarely.
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { hintOf } from '../core/background/turns.ts';
import { rechargeHint } from '../core/wallet/limits/recharge-due.ts';
import { textArray } from '../db/arrays.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { HEALTH } from '../webhooks/turns/places.ts';

const INTERVAL_MS = 200;
/** The statement is one of the source: so many kinds of work at most. */
const WORKS_MAX = 32;

const worksDue = Array.from({ length: WORKS_MAX }, (_, i) => {
  const work = `($1::text[])[${i + 1}]`;
  return `(SELECT '${hintOf('')}' || ${work} AS topic FROM core.turn t WHERE t.work = ${work} AND t.due_at <= core.clock_now() LIMIT 1)`;
});
const linesDue = Object.values(HEALTH).map(
  (health) =>
    `(SELECT 'deliveries' FROM core.delivery_line l WHERE l.health = ${health} AND l.due_at <= core.clock_now() LIMIT 1)`,
);
const find = statement(
  'due_find_topics',
  `/* fan-out: what has something due */
   ${[...worksDue, ...linesDue].join('\n   UNION ALL\n   ')}
   UNION ALL
   (SELECT '${rechargeHint}' FROM core.wallet w WHERE w.recharge_due_at <= core.clock_now() LIMIT 1)
   UNION ALL
   (SELECT 'events' FROM (SELECT o.account_id FROM core.event_outbox o WHERE o.account_id > '' ORDER BY o.account_id LIMIT 1) first)`,
);

/** Gives the hints of what is due, as a commit of this process would. `loops`: some of them are named as their work in core.turn. */
export function dueSearch(db: Database, loops: readonly { readonly name: string }[]): Sweep {
  const works = loops.map(({ name }) => name);
  if (works.length > WORKS_MAX) throw new Error(`more than ${WORKS_MAX} kinds of background work: ${works.join(', ')}`);
  return {
    name: 'due.search',
    intervalMs: INTERVAL_MS,
    backoffMaxMs: 1_000,
    perProcess: true,
    async run() {
      const { rows } = await db.hot.query<{ topic: string }>(find, [textArray(works)]);
      for (const topic of new Set(rows.map((row) => row.topic))) db.hint(topic);
      return false;
    },
  };
}
