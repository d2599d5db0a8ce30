// The commands around people: a link to become the operator, mail that waits, top-ups under review, and a key for this machine by the device
// flow. Each is a process of its own beside a running service.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorAccount } from '../../src/core/accounts/operator.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { checkTopup } from '../../src/payments/topups/check.ts';
import { findTopup } from '../../src/payments/topups/store.ts';
import { approveDevice } from '../../src/people/devices/approve.ts';
import { readUserCode } from '../../src/people/devices/codes.ts';
import { findWaiting } from '../../src/people/devices/devices.ts';
import { guessersOf } from '../../src/people/devices/guesses.ts';
import { sendMail } from '../../src/people/mail/mail.ts';
import { sandboxBench } from '../payments/sandbox-bench.ts';
import {
  client,
  createTestAccount,
  SECRETS_KEY,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let service: TestService;
let account: TestAccount;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ env: { ROLES: 'web,render', TOPUP_REVIEW_ABOVE_USD: '20' } });
  account = await createTestAccount(service.core, 0);
  folder = mkdtempSync(join(tmpdir(), 'quartermaster-people-'));
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function qm(args: readonly string[], hear: (stderr: string) => void = () => undefined): Promise<Result> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, DATA_DIR: folder, SECRETS_KEY };
  const settings = { ...env, DATABASE_URL: service.database.url, BASE_URL: service.url };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { env: settings, timeout: 100_000 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stderr?.on('data', (text) => hear(String(text)));
  });
}

async function json(...args: string[]) {
  const { code, stdout, stderr } = await qm([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('qm console prints a link that signs a browser in as the operator', async () => {
  const { url, expires_at } = await json('console');
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
  const send = () => fetch(url, { method: 'POST', headers: { origin: service.url }, redirect: 'manual' });
  const signedIn = await send();
  expect(signedIn.status).toBe(303);
  expect(signedIn.headers.get('set-cookie')).toMatch(/^qm_session=[\w-]{43};.*HttpOnly/);
  expect((await send()).status).toBe(404);
});

test('qm keys create makes a key of the operator for the operator’s account, and for no other', async () => {
  const operator = (await operatorAccount(service.core.db)) ?? '';
  const refused = await qm(['keys', 'create', '--account', account.accountId, '--scopes', 'operator:read']);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('INVALID_SCOPE') });
  const { key_secret } = await json('keys', 'create', '--account', operator, '--scopes', 'operator:read');
  const { status, body } = await client(service.url, key_secret)('GET', '/v1/operator/accounts/list');
  expect([status, body.data.items.length]).toEqual([200, 2]);
});

test('qm outbox shows mail that is not sent, the newest first', async () => {
  const { db } = service.core;
  for (const subject of ['one', 'two'])
    await db.transaction(async (tx) =>
      sendMail(tx, { to: 'ada@example.org', subject, text: `${subject} ☂`, html: '<p></p>' }, await clockNow(tx)),
    );
  const { items } = await json('outbox');
  expect(items.map(({ subject }: { subject: string }) => subject)).toEqual(['two', 'one']);
  expect(Object.keys(items[0])).toEqual(['mail_id', 'to', 'subject', 'text', 'html', 'created_at']);
});

test('qm topup refuses what is not under review, and what is not there', async () => {
  const call = client(service.url, account.secret);
  const { body } = await call('POST', '/v1/account/topup', { amount_usd: 30 });
  const { topup_id } = body.data;
  const [open, none] = await Promise.all([qm(['topup', 'approve', topup_id]), qm(['topup', 'refund', 'top_nothing'])]);
  expect(open).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('not under review') });
  expect(none).toMatchObject({ code: 1, stdout: '', stderr: 'qm: there is no top-up top_nothing\n' });
});

test('qm topup approve credits, reject credits nothing, refund pays back what is asked and then what is left', async () => {
  const { core, url } = service;
  const bench = sandboxBench(core.db, url, (seconds) => service.advance(seconds));
  const call = client(url, account.secret);
  const [approved, rejected] = await Promise.all(
    [30, 40].map(async (amount_usd) => {
      const { body } = await call('POST', '/v1/account/topup', { amount_usd });
      const { topup_id: id, checkout_url } = body.data;
      await bench.pay(checkout_url, 'pays');
      expect(await checkTopup(core, { accountId: account.accountId, id, attempt: -1 })).toMatchObject({
        status: 'review',
      });
      return id as string;
    }),
  );
  const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd;
  const decided = [json('topup', 'approve', approved as string), json('topup', 'reject', rejected as string)];
  expect(await Promise.all(decided)).toMatchObject([
    { topup_id: approved, status: 'succeeded', amount_usd: 30, refunded_usd: 0 },
    { topup_id: rejected, status: 'failed', failure_code: 'rejected', grant_id: null },
  ]);
  expect(await balance()).toBe(30);
  const part = await qm(['topup', 'refund', approved as string, '--usd', '12.5']);
  expect(part).toEqual({
    code: 0,
    stderr: '',
    stdout: `${approved}: succeeded, 30 USD, of which 12.5 USD went back\n`,
  });
  expect(await balance()).toBe(17.5);
  expect(await json('topup', 'refund', approved as string)).toMatchObject({ refunded_usd: 30 });
  expect(await balance()).toBe(0);
  const { payment_ref } = (await findTopup(core.db, account.accountId, approved as string)) ?? {};
  const { refunds } = await bench.provider.read(payment_ref as string);
  expect(refunds.map(({ status, amountMinor }) => [status, amountMinor])).toEqual([
    ['succeeded', 1_250],
    ['succeeded', 1_750],
  ]);
});

test('qm login keeps the key that a person approved for its owner’s eyes only: in the profile that calls use, or in a file', async () => {
  const file = join(folder, 'keys', 'agent');
  const profile = join(folder, '.config/quartermaster/profile.json');
  const logIn = async (...args: string[]) => {
    let approved: Promise<unknown> | undefined;
    const asked = ['login', '--url', service.url, '--name', 'a laptop', '--scopes', 'queue,account:read', '--json'];
    const { code, stdout } = await qm([...asked, ...args], (text) => {
      const typed = /code ([A-Z]{4}-[A-Z]{4})/.exec(text)?.[1];
      if (typed !== undefined) approved = approve(typed);
    });
    expect([await approved, code]).toEqual([null, 0]);
    return stdout;
  };
  for (const [at, stdout] of await Promise.all([
    logIn('--file', file).then((told) => [file, told] as const),
    logIn().then((told) => [profile, told] as const),
  ])) {
    const text = readFileSync(at, 'utf8').trim();
    const secret = at === file ? text : JSON.parse(text).key;
    expect(stdout).not.toContain(secret);
    expect(JSON.parse(stdout)).toMatchObject({
      account_id: account.accountId,
      scopes: ['queue', 'account:read'],
      file: at,
    });
    expect(statSync(at).mode & 0o777).toBe(0o600);
    expect((await client(service.url, secret)('GET', '/v1/account/balance')).status).toBe(200);
  }
  expect(await json('whoami')).toMatchObject({ url: service.url, key_source: profile, account_id: account.accountId });
});

test('qm login sends nothing over plain http to another machine', async () => {
  const refused = await qm(['login', '--url', 'http://service.example']);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: 'qm: --url must be https, or lead to this machine\n' });
});

async function approve(typed: string) {
  const { core } = service;
  const device = await findWaiting(core, readUserCode(typed), guessersOf('a test', 'here'));
  const principal = await core.keys.find(account.secret);
  if (device === null || typeof device === 'number' || typeof principal === 'string')
    throw new Error('nobody to approve');
  return approveDevice(core, principal, device, { scopes: device.scopes, lifetimeMs: null, cap: null });
}
