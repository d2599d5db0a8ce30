// The lease of a sweep: a row of core.sweep_lease by its name.
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { Lease } from '../lease.ts';

const addLease = statement(
  'lease_add',
  `INSERT INTO core.sweep_lease (name, holder, lease_until) VALUES ($1, '', '-infinity') ON CONFLICT (name) DO NOTHING`,
);
const takeLease = statement(
  'lease_take',
  `UPDATE core.sweep_lease
      SET holder = $2, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
    WHERE name = $1 AND (holder = $2 OR lease_until < clock_timestamp())`,
);
const dropLease = statement(
  'lease_drop',
  `UPDATE core.sweep_lease SET lease_until = '-infinity' WHERE name = $1 AND holder = $2`,
);

/** `holder`: this process. */
export function sweepLease(db: Database, name: string, holder: string, leaseMs: number): Lease {
  let isAdded = false;
  return new Lease({
    leaseMs,
    async take() {
      if (!isAdded) await db.query(addLease, [name]);
      isAdded = true;
      return (await db.query(takeLease, [name, holder, leaseMs])).count === 1;
    },
    async drop() {
      await db.query(dropLease, [name, holder]);
    },
  });
}
