// Doctor check of stranded holds: no process renews or releases them, or the work that owns them has ended.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { iso } from '../lib/time.ts';

/** What the doctor asks of a module. */
export interface ExaminedModule {
  readonly name: string;
  /** Which of the module's pieces of work, by the ids in the owners of their holds, have not ended. */
  liveWork?(db: Queryable, accountId: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** What does not agree in what the module keeps for the account, a sentence each. */
  examine?(db: Queryable, accountId: string): Promise<readonly string[]>;
}

// A running service releases what is overdue within seconds.
const readSuspects = statement(
  'doctor_read_suspect_holds',
  `SELECT h.hold_id, h.owner, h.expires_at
     FROM core.hold h
    WHERE h.account_id = $1 AND h.status = 'active'
      AND (h.expires_at IS NULL OR h.expires_at <= core.clock_now() - interval '5 minutes')
    ORDER BY h.hold_id`,
);

type HoldFault = readonly ['hold', string];

interface SuspectRow {
  readonly hold_id: string;
  readonly owner: string;
  readonly expires_at: number | null;
}

/** What is wrong with the account's holds. */
export async function holdFaults(
  modules: readonly ExaminedModule[],
  db: Queryable,
  accountId: string,
): Promise<HoldFault[]> {
  const { rows } = await db.query<SuspectRow>(readSuspects, [accountId]);
  const ofWork = Map.groupBy(rows, ({ owner, expires_at }) => (expires_at === null ? (owner.split(':')[0] ?? '') : ''));
  const faults = (ofWork.get('') ?? []).map(({ hold_id, owner, expires_at }): HoldFault => {
    const overdue = `nobody has renewed or released it since ${iso(expires_at ?? 0)}`;
    return ['hold', `${hold_id} has no owner: ${owner} is gone, ${overdue}`];
  });
  for (const [name, holds] of ofWork) {
    if (name !== '') faults.push(...(await workFaults(modules, db, accountId, name, holds)));
  }
  return faults;
}

async function workFaults(
  modules: readonly ExaminedModule[],
  db: Queryable,
  accountId: string,
  name: string,
  holds: readonly SuspectRow[],
): Promise<HoldFault[]> {
  const module = modules.find((one) => one.name === name);
  const idOf = ({ owner }: SuspectRow) => owner.slice(name.length + 1);
  const live = await module?.liveWork?.(db, accountId, holds.map(idOf));
  return holds
    .filter((hold) => live?.has(idOf(hold)) !== true)
    .map(({ hold_id, owner }): HoldFault => {
      const why =
        live === undefined ? `has no owner: no module knows ${owner}` : `is open, and its work ${owner} has ended`;
      return ['hold', `${hold_id} ${why}`];
    });
}
