// Every statement for accounts names one at least, and on a distributed engine those of one shard. For a list of none that engine asks all
// nodes or refuses the statement, which one PostgreSQL answers with nothing: so it is looked for here, on every engine.
import { afterAll, expect, inject } from 'vitest';
import { textsOf } from '../../src/db/arrays.ts';
import { withClient } from '../../src/db/client.ts';
import { Pool } from '../../src/db/database.ts';
import type { SqlValue, Statement } from '../../src/db/statement.ts';
import { ClientTransaction } from '../../src/db/transaction.ts';
import { SHARDS } from './cluster.ts';

// Those that say why they ask all nodes are left out.
const OF_ACCOUNTS = /^(?!\s*\/\*\s*fan-out:).*\baccount_id = ANY\(\$1::text\[\]\)/s;
/** Where the number of elements stands in a one-dimensional array (src/db/arrays.ts). */
const COUNT_AT = 12;

interface Asked {
  query(statement: Statement, values: readonly SqlValue[]): Promise<unknown>;
}

const WATCHED = Symbol.for('statements for no account');
const TOGETHER = Symbol.for('accounts of one statement');
const LISTS_MAX = 10_000;
const shared = globalThis as { [WATCHED]?: Set<string>; [TOGETHER]?: Map<string, string> };
/** Accounts of one statement, and its name. */
const together = shared[TOGETHER] ?? new Map<string, string>();
shared[TOGETHER] = together;

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
      if (count === 0) found.add(`${statement.name}, for no account`);
      if (count > 1 && inject('cluster') !== null && together.size < LISTS_MAX)
        together.set(textsOf(accounts).join(), statement.name);
    }
    return query.call(this, statement, values);
  };
}

afterAll(async () => {
  const names = [...found, ...(await ofSeveralShards())];
  found.clear();
  together.clear();
  expect(names, 'statements sent for no account, or for several shards').toEqual([]);
});

/** Names of statements that were sent for accounts of several shards. Shards are equal parts of the hashes. */
async function ofSeveralShards(): Promise<string[]> {
  if (together.size === 0) return [];
  const lists = [...together.keys()];
  const shards = await withClient(inject('postgres'), (client) =>
    client.query<{ count: number }>(
      `SELECT (SELECT count(DISTINCT (hashtext(a)::bigint + 2147483648) * $2 >> 32)::int FROM unnest(string_to_array(l.accounts, ',')) a) AS count
         FROM unnest($1::text[]) WITH ORDINALITY l(accounts, place) ORDER BY l.place`,
      [lists, SHARDS],
    ),
  );
  return shards.rows.flatMap(({ count }, i) =>
    count === 1 ? [] : [`${together.get(lists[i] as string)}, for ${count} shards`],
  );
}
