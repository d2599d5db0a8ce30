// A transaction may look at all accounts and then write of one, as the first start does: on a distributed engine all of it must go over one
// connection to each node, which else refuses to join what was written over two.
import { expect, inject, test } from 'vitest';
import { createAccount, listAccounts } from '../../src/core/accounts/accounts.ts';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { statement } from '../../src/db/statement.ts';
import { startTestService } from '../support/service.ts';

// Else the coordinator takes a second connection only when a node is slow to answer on the one it has kept.
const TAKE_ALL = [
  statement('', 'SET LOCAL citus.executor_slow_start_interval = 0'),
  statement('', 'SET LOCAL citus.max_cached_conns_per_worker = 0'),
];

test.runIf(inject('cluster') !== null)(
  'a transaction that looked at all accounts makes an account with a key, however busy the nodes are',
  async () => {
    const { core, stop } = await startTestService({ env: { ROLES: 'web,render' } });
    try {
      for (let made = 0; made < 10; made += 1) {
        const key = await core.db.transaction(async (tx) => {
          for (const setting of TAKE_ALL) await tx.query(setting, []);
          await listAccounts(tx, '', 100);
          const accountId = await createAccount(tx, { name: 'late' });
          const nowMs = (await lockAccount(tx, accountId)) as number;
          const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
          return (await createKey(tx, core.secrets, accountId, fields, nowMs)).key;
        });
        expect(key.status).toBe('active');
      }
    } finally {
      await stop();
    }
  },
);
