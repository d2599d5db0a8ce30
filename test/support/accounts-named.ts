// Every statement for accounts names one at least, and on a distributed engine exactly one. For a list of none that engine asks all nodes
// or refuses the statement, which one PostgreSQL answers with nothing: so it is looked for here, on every engine.
import { afterAll, expect, inject } from 'vitest';
import { Pool } from '../../src/db/database.ts';
import type { SqlValue, Statement } from '../../src/db/statement.ts';
import { ClientTransaction } from '../../src/db/transaction.ts';

// Those that say why they ask all nodes are left out.
const OF_ACCOUNTS = /^(?!\s*\/\*\s*fan-out:).*\baccount_id = ANY\(\$1::text\[\]\)/s;
/** Where the number of elements stands in a one-dimensional array (src/db/arrays.ts). */
const COUNT_AT = 12;

interface Asked {
  query(statement: Statement, values: readonly SqlValue[]): Promise<unknown>;
}

const WATCHED = Symbol.for('statements for no account');
const shared = globalThis as { [WATCHED]?: Set<string> };

/** Names of statements that were sent for no account; of all files of this worker, which share their modules. */
const found = shared[WATCHED] ?? new Set<string>();
if (shared[WATCHED] === undefined) {
  shared[WATCHED] = found;
  for (const asked of [Pool.prototype, ClientTransaction.prototype]) watch(asked as Asked);
}

function watch(asked: Asked): void {
  const { query } = asked;
  asked.query = function (this: Asked, statement, values) {
    const [accounts] = values;
    if (Buffer.isBuffer(accounts) && OF_ACCOUNTS.test(statement.text)) {
      const count = accounts.readInt32BE(COUNT_AT);
      if (count === 0 || (count > 1 && inject('cluster') !== null))
        found.add(`${statement.name}, for ${count} accounts`);
    }
    return query.call(this, statement, values);
  };
}

afterAll(() => {
  const names = [...found];
  found.clear();
  expect(names, 'statements sent for no account, or for several on a cluster').toEqual([]);
});
