// Day partitions of errors.event: made ahead, dropped when their events are over. Attaching an empty table takes a lock that
// captures do not wait for; dropping one takes them all for an instant, so it gives up quickly and comes again.
import type { Database, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { DAY_MS } from '../../lib/time.ts';
import { dayOf, firstKeptDay, firstOfDay } from './retention.ts';

const DAYS_AHEAD = 2;

const lockParent = statement('errors_lock_parent', 'LOCK TABLE errors.event IN SHARE UPDATE EXCLUSIVE MODE');
const listPartitions = statement(
  'errors_list_partitions',
  `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'errors.event'::regclass ORDER BY c.relname`,
);
const waitBriefly = statement('errors_wait_briefly', `SET LOCAL lock_timeout = '250ms'`);

export class Partitions {
  readonly #db: Database;
  /** The first day that may have none. */
  #missingFrom = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Whether an event of today and one of tomorrow surely have a place. */
  isReady(nowMs: number): boolean {
    return dayOf(nowMs) + 1 < this.#missingFrom;
  }

  /** Makes the partitions of today and the next two days. */
  async prepare(nowMs: number): Promise<void> {
    const today = dayOf(nowMs);
    const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, i) => today + i);
    await this.#db.transaction(async (tx) => {
      const [, known] = await Promise.all([tx.query(lockParent, []), tx.query<{ name: string }>(listPartitions, [])]);
      const names = new Set(known.rows.map(({ name }) => name));
      for (const day of days) if (!names.has(nameOf(day))) await addPartition(tx, day);
    });
    this.#missingFrom = today + DAYS_AHEAD + 1;
  }

  /** Drops the oldest partition that is over; answers whether there was one. */
  async dropOld(nowMs: number): Promise<boolean> {
    const { rows } = await this.#db.query<{ name: string }>(listPartitions, []);
    const [oldest] = rows.filter(({ name }) => name < nameOf(firstKeptDay(nowMs)));
    if (oldest === undefined) return false;
    await this.#db.transaction(async (tx) => {
      await tx.query(waitBriefly, []);
      await tx.query(unnamed(`DROP TABLE IF EXISTS errors.${oldest.name}`), []);
    });
    return true;
  }
}

/** A statement of one day is not worth remembering on a connection. */
function unnamed(text: string) {
  return statement('', text);
}

function nameOf(day: number): string {
  return `event_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

async function addPartition(tx: Transaction, day: number): Promise<void> {
  const name = nameOf(day);
  await tx.query(unnamed(`CREATE TABLE errors.${name} (LIKE errors.event INCLUDING ALL)`), []);
  const bounds = `FROM (${firstOfDay(day)}) TO (${firstOfDay(day + 1)})`;
  await tx.query(unnamed(`ALTER TABLE errors.event ATTACH PARTITION errors.${name} FOR VALUES ${bounds}`), []);
}
