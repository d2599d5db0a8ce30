// Deleting an account: what stops at once, what a person can take back, and what is left once it is purged.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import type { Database } from '../../src/db/database.ts';
import type { TenantFixture } from '../../src/kit/tenant-fixture.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { membershipsOf, membersOf } from '../../src/people/persons.ts';
import { deleteAccount, restoreAccount } from '../../src/upkeep/deletion/deletion.ts';
import { erasedTables, kept, purgeSweep } from '../../src/upkeep/deletion/purge.ts';
import { numberEvent } from '../../src/webhooks/sequencer.ts';
import { dyingEverywhere } from '../payments/mortal.ts';
import { accountRows } from '../support/account-rows.ts';
import { callCapability, manifest } from '../support/capabilities.ts';
import { leaveCard } from '../support/leave-card.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { tenantFixtures } from '../support/tenant-fixtures.ts';

const DAY_S = 86_400;
const never = new AbortController().signal;
const keepLease = {
  name: 'test_keep_lease',
  text: `INSERT INTO core.sweep_lease (name, holder, lease_until) VALUES ($1, 'this test', 'infinity')
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until`,
};

let service: TestService;
let fixtures: TenantFixture[];
beforeAll(async () => {
  // own service: moves its clock
  [service, fixtures] = await Promise.all([startTestService(), tenantFixtures(manifest)]);
  // The sweep runs here when a test says so, not beside it.
  await service.core.db.query(keepLease, ['accounts.purge']);
});
afterAll(() => service?.stop());

const callsOf = ({ secret }: TestAccount) => client(service.url, secret);
async function deletes(account: TestAccount, input: object = {}) {
  const all = { confirm: account.accountId, forfeit_balance: true, ...input };
  const reply = await callsOf(account)('DELETE', '/v1/account/delete', all);
  // Not days later, when the test's clock has moved on.
  await service.core.requests.flush();
  return reply;
}
const purgeDue = () => purgeSweep(service.core).run(never);
const purged = ({ accountId }: Pick<TestAccount, 'accountId'>) =>
  expect
    .poll(async () => {
      await purgeDue();
      const text = `SELECT a.purge_step AS step FROM core.account a WHERE a.account_id = $1`;
      return (await service.core.db.query<{ step: string }>({ name: 'test_purge_step', text }, [accountId])).rows[0]
        ?.step;
    })
    .toBe('purged');

/** An account with one of everything that any module keeps. */
async function filled(): Promise<TestAccount> {
  const account = await createTestAccount(service.core);
  for (const { fill } of fixtures) {
    await fill({
      accountId: account.accountId,
      leaveCard,
      db: service.core.db,
      act: async (id, input) => {
        const { body } = await callCapability(callsOf(account), manifest.byId.get(id) as never, input);
        expect(body, id).toMatchObject({ ok: true });
        return body.data;
      },
    });
  }
  return account;
}

async function rowsOf(accountId: string): Promise<string[]> {
  const { db } = service.core;
  const tables = await erasedTables(service.core);
  const counts = tables.map(
    ({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM ${name} WHERE account_id = $1`,
  );
  const text = counts.join(' UNION ALL ');
  const { rows } = await db.query<{ name: string; rows: number }>({ name: '', text }, [accountId]);
  return rows.filter((row) => row.rows > 0).map(({ name }) => name);
}

/** Of what no week takes away: the rest has a retention of its own. */
async function lastingRows(accountId: string) {
  const rows = await accountRows(service.core.db, accountId);
  const lasting = [
    'core.account',
    'core.api_key',
    'core.webhook',
    'queue.queue',
    'vector.collection',
    'vector.item',
    'errors.error_group',
  ];
  return lasting.map((name) => [name, rows[name]]);
}

async function booksOf(accountId: string) {
  const text = `SELECT w.balance_nanos = (SELECT sum(l.amount_nanos) FROM core.ledger l WHERE l.account_id = $1) AS sound,
                       w.balance_nanos AS balance FROM core.wallet w WHERE w.account_id = $1`;
  return (await service.core.db.query<{ sound: boolean }>({ name: 'test_books_of', text }, [accountId])).rows[0];
}

async function signedIn(email: string): Promise<PageVisitor> {
  const visitor = new PageVisitor(service.url);
  await visitor.post('/auth/mail', { email });
  const mail = (await listMails(service.core.db, { limit: 50 })).find(({ to }) => to === email);
  await visitor.post(/\/auth\/mail\/[\w-]{43}/.exec(mail?.text ?? '')?.[0] ?? '', {});
  return visitor;
}

async function accountOf(visitor: PageVisitor): Promise<string> {
  return /acct_email_\w+/.exec((await visitor.get('/auth/account')).text)?.[0] ?? '';
}

describe('a deletion is refused', () => {
  test('for another id, with paid credit left, and for the account of the operator; then nothing has changed', async () => {
    const account = await createTestAccount(service.core, 5);
    const before = await accountRows(service.core.db, account.accountId);
    const other = await createTestAccount(service.core);
    expect((await deletes(account, { confirm: other.accountId })).body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      param: 'confirm',
      code_detail: 'not_the_account',
    });
    expect((await deletes(account, { forfeit_balance: false })).body.error).toMatchObject({
      code: 'STATE_CONFLICT',
      code_detail: 'paid_credit',
      param: 'forfeit_balance',
    });
    expect(await accountRows(service.core.db, account.accountId)).toEqual(before);
  });

  test('while a subscription runs', async () => {
    const account = await createTestAccount(service.core, 0);
    const text = `INSERT INTO core.subscription (account_id, subscription_id, status, tier, label, price_nanos, provider, test_mode,
                                                  fallback_tier, created_at, updated_at, expires_at)
                  VALUES ($1, 'sub_test', 'active', 'pro', 'Pro', 1, 'sandbox', true, 'standard', core.clock_now(), core.clock_now(), core.clock_now())`;
    await service.core.db.query({ name: 'test_subscribe', text }, [account.accountId]);
    expect((await deletes(account)).body.error).toMatchObject({
      code: 'STATE_CONFLICT',
      code_detail: 'live_subscription',
    });
  });
});

describe('a deleted account', () => {
  test('stops before the answer, is told, and is as it was once it is restored', async () => {
    const account = await filled();
    const call = callsOf(account);
    const webhooks = async () => {
      const text = `SELECT w.webhook_id, w.status, w.disabled_reason AS why FROM core.webhook w WHERE w.account_id = $1 ORDER BY 1`;
      return (await service.core.db.query({ name: 'test_webhooks', text }, [account.accountId])).rows;
    };
    const before = await webhooks();
    expect(before).not.toEqual([]);
    const reply = await deletes(account);
    expect(reply.body.data).toMatchObject({ account_id: account.accountId, deleted: true });
    expect((await call('GET', '/v1/account/get')).body.error).toMatchObject({ code: 'ACCOUNT_SUSPENDED' });
    expect((await deletes(account)).body.error).toMatchObject({ code: 'ACCOUNT_SUSPENDED' });
    await purgeDue();
    expect(await webhooks()).toEqual(before);
    await service.advance(2 * DAY_S);
    await purgeDue();
    expect(await webhooks()).toContainEqual(expect.objectContaining({ status: 'disabled', why: 'account_deleted' }));
    await service.core.db.transaction((tx) => restoreAccount(tx, account.accountId));
    await service.core.processes.keyDropInForce();
    service.core.keys.drop(account.keyId);
    expect((await call('GET', '/v1/account/get')).body.data).toMatchObject({ suspended: false, purge_at: null });
    expect(await webhooks()).toEqual(before);
    const told = (await call('GET', '/v1/account/events/list')).body.data.items.map(
      ({ type }: { type: string }) => type,
    );
    expect(told).toEqual(expect.arrayContaining(['account.deleted', 'account.updated']));
    await expect(service.core.db.transaction((tx) => restoreAccount(tx, account.accountId))).rejects.toMatchObject({
      code: 'STATE_CONFLICT',
      detail: 'not_restorable',
    });
  });

  test('that the operator suspends meanwhile is suspended once it is restored', async () => {
    const { core } = service;
    const account = await createTestAccount(core, 0);
    await deletes(account);
    await core.db.transaction((tx) => setSuspended(tx, account.accountId, true));
    const restored = await core.db.transaction((tx) => restoreAccount(tx, account.accountId));
    expect(restored).toMatchObject({ suspended: true, purgeAtMs: null });
  });

  test('is restored by its owner at /auth/account, by nobody else', async () => {
    const owner = await signedIn('owner@example.org');
    const accountId = await accountOf(owner);
    const { core } = service;
    const stranger = await signedIn('stranger@example.org');
    const { secret } = await core.db.transaction(async (tx) => {
      const nowMs = await lockCaller(tx, accountId);
      return createKey(tx, core.secrets, accountId, { name: null, scopes: null, expiresAtMs: null, cap: null }, nowMs);
    });
    const call = client(service.url, secret);
    expect((await call('DELETE', '/v1/account/delete', { confirm: accountId })).status).toBe(200);
    expect((await owner.get('/auth/account')).text).not.toContain(accountId);
    const strange = { form_token: await stranger.formToken('/auth/account') };
    expect((await stranger.post('/auth/account/restore', strange)).status).toBe(409);
    const again = await signedIn('owner@example.org');
    expect((await again.get('/auth/account')).text).toContain('This account was deleted');
    const form = { form_token: await again.formToken('/auth/account') };
    expect((await again.post('/auth/account/restore', form)).text).toContain('The account is restored');
    expect((await call('GET', '/v1/account/get')).body.data).toMatchObject({ account_id: accountId, purge_at: null });
  });
});

test('when its week is over, its key is unknown and nobody restores it, purged or not', async () => {
  const account = await createTestAccount(service.core);
  await deletes(account);
  const call = callsOf(account);
  await service.advance(7 * DAY_S - 60);
  expect((await call('GET', '/v1/account/get')).body.error.code).toBe('ACCOUNT_SUSPENDED');
  await service.advance(61);
  await expect.poll(async () => (await call('GET', '/v1/account/get')).status).toBe(401);
  expect((await call('GET', '/v1/account/get')).body.error.code).toBe('INVALID_API_KEY');
  const restored = service.core.db.transaction((tx) => restoreAccount(tx, account.accountId));
  await expect(restored).rejects.toMatchObject({ code: 'STATE_CONFLICT', detail: 'not_restorable' });
});

describe('a purge', () => {
  test('leaves no row of the account in any table but the books, which add up and name nobody; others keep everything', async () => {
    const [account, other] = [await filled(), await filled()];
    await deletes(account);
    await service.advance(8 * DAY_S);
    const before = await lastingRows(other.accountId);
    expect(before.filter(([, digest]) => !/^[1-9]/.test(digest ?? ''))).toEqual([]);
    expect((await rowsOf(account.accountId)).length).toBeGreaterThan(20);
    await purged(account);
    expect(await rowsOf(account.accountId)).toEqual([]);
    expect(await lastingRows(other.accountId)).toEqual(before);
    expect(await booksOf(account.accountId)).toMatchObject({ sound: true });
    const text = `SELECT a.name, a.email FROM core.account a WHERE a.account_id = $1`;
    const { rows } = await service.core.db.query({ name: 'test_names', text }, [account.accountId]);
    expect(rows).toEqual([{ name: null, email: null }]);
    expect((await callsOf(account)('GET', '/v1/account/get')).status).toBe(401);
  });

  test('goes on where a process has died, whatever its last step was', async () => {
    const account = await filled();
    await deletes(account);
    await service.advance(8 * DAY_S);
    const died = await dyingEverywhere(service.core, async (core) => {
      for (let runs = 0; runs < 3; runs += 1) await purgeSweep(core as typeof service.core).run(never);
    });
    expect(died).toBeGreaterThan(20);
    await purged(account);
    expect(await rowsOf(account.accountId)).toEqual([]);
    expect(await booksOf(account.accountId)).toMatchObject({ sound: true });
    await expect(service.core.db.transaction((tx) => restoreAccount(tx, account.accountId))).rejects.toMatchObject({
      detail: 'not_restorable',
    });
  });

  test('removes what is written while it removes', async () => {
    const account = await createTestAccount(service.core);
    const { accountId } = account;
    await deletes(account);
    await service.advance(8 * DAY_S);
    await purgeDue();
    const { db } = service.core;
    const query = async (...call: Parameters<Database['query']>) => {
      const answer = await db.query(...call);
      if (call[0].text.startsWith('DELETE FROM core.event_sequence') && call[1][0] === accountId)
        await db.transaction((tx) => numberEvent(tx, { accountId, type: 'test.late', data: '{}', requestId: null }));
      return answer;
    };
    const transaction: Database['transaction'] = (...call) => db.transaction(...call);
    await purgeSweep({ ...service.core, db: { query, transaction } as unknown as Database }).run(never);
    expect(await rowsOf(accountId)).toEqual(['core.event', 'core.event_sequence']);
    await purged(account);
    expect(await rowsOf(accountId)).toEqual([]);
  });

  test('forgets who acted for it alone; who acts for another account goes on', async () => {
    const [alone, both] = [await signedIn('alone@example.org'), await signedIn('both@example.org')];
    const [gone, stays] = [await accountOf(alone), await accountOf(both)];
    const { db } = service.core;
    const [person] = await membersOf(db, stays);
    const [single] = await membersOf(db, gone);
    await db.transaction(async (tx) => {
      await tx.query(
        {
          name: 'test_join',
          text: `INSERT INTO core.member (person_id, account_id, role, created_at) VALUES ($1, $2, 'viewer', core.clock_now())`,
        },
        [person?.personId ?? '', gone],
      );
      await grantCredit(tx, gone, { kind: 'promo', amountNanos: 1n, expiresInMs: null, note: null });
      await deleteAccount(tx, gone, { forfeit: true, requestId: 'req_test', nowMs: await lockCaller(tx, gone) });
    });
    await service.advance(8 * DAY_S);
    await purged({ accountId: gone });
    expect((await membershipsOf(db, person?.personId ?? '')).map(({ accountId }) => accountId)).toEqual([stays]);
    expect(await membershipsOf(db, single?.personId ?? '')).toEqual([]);
    const later = await signedIn('alone@example.org');
    expect(await accountOf(later)).not.toBe(gone);
    expect(await accountOf(await signedIn('both@example.org'))).toBe(stays);
  });

  test('keeps only tables that are there', async () => {
    const text = `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables`;
    const { rows } = await service.core.db.query<{ name: string }>({ name: 'test_tables', text }, []);
    const names = new Set(rows.map(({ name }) => name));
    expect([...kept].filter((name) => !names.has(name))).toEqual([]);
    expect((await erasedTables(service.core)).filter(({ key }) => key === null)).toEqual([]);
  });
});
