// Day partitions of the events and of their details: made ahead, dropped when they are over. Attaching an empty table takes a lock that
// captures do not wait for; dropping one takes them all for an instant, so it gives up quickly and comes again.
import type { Database, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { DAY_MS } from '../../lib/time.ts';
import { dayOf, firstKeptDay, firstOfDay } from './retention.ts';

const DAYS_AHEAD = 2;

const PARENTS = ['event', 'event_detail'];

const lockParents = statement(
  'errors_lock_parents',
  'LOCK TABLE errors.event, errors.event_detail IN SHARE UPDATE EXCLUSIVE MODE',
);
const listPartitions = statement(
  'errors_list_partitions',
  `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('errors.event'::regclass, 'errors.event_detail'::regclass)`,
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
      const [, known] = await Promise.all([tx.query(lockParents, []), tx.query<{ name: string }>(listPartitions, [])]);
      const names = new Set(known.rows.map(({ name }) => name));
      for (const parent of PARENTS) {
        for (const day of days) if (!names.has(nameOf(parent, day))) await addPartition(tx, parent, day);
      }
    });
    this.#missingFrom = today + DAYS_AHEAD + 1;
  }

  /** Drops the partitions of the oldest day that is over; answers whether there was one. */
  async dropOld(nowMs: number): Promise<boolean> {
    const { rows } = await this.#db.query<{ name: string }>(listPartitions, []);
    const firstKept = dayNameOf(firstKeptDay(nowMs));
    const over = rows.map(({ name }) => name.slice(-firstKept.length)).filter((day) => day < firstKept);
    const [oldest] = over.sort();
    if (oldest === undefined) return false;
    const names = PARENTS.map((parent) => `errors.${parent}_${oldest}`);
    await this.#db.transaction(async (tx) => {
      await tx.query(waitBriefly, []);
      await tx.query(unnamed(`DROP TABLE IF EXISTS ${names.join()}`), []);
    });
    return true;
  }
}

/** A statement of one day is not worth remembering on a connection. */
function unnamed(text: string) {
  return statement('', text);
}

function nameOf(parent: string, day: number): string {
  return `${parent}_${dayNameOf(day)}`;
}

/** `20261231`. */
function dayNameOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
}

async function addPartition(tx: Transaction, parent: string, day: number): Promise<void> {
  const name = nameOf(parent, day);
  await tx.query(unnamed(`CREATE TABLE errors.${name} (LIKE errors.${parent} INCLUDING ALL)`), []);
  const bounds = `FROM (${firstOfDay(day)}) TO (${firstOfDay(day + 1)})`;
  await tx.query(unnamed(`ALTER TABLE errors.${parent} ATTACH PARTITION errors.${name} FOR VALUES ${bounds}`), []);
}
