import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import release from '../../package.json' with { type: 'json' };
import { secretAccessKey } from '../../src/core/credentials/sigv4.ts';
import { secretHash } from '../../src/core/keys/api-key.ts';
import { KeyRing } from '../../src/core/keys/ring.ts';
import { switchTestClock } from '../../src/core/process/test-clock.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import { lastDoctorResult } from '../../src/upkeep/doctor-result.ts';
import { engineWarnings } from '../../src/upkeep/engine-warning.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let database: TestDatabase;
let dataDir: string;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  dataDir = mkdtempSync(join(tmpdir(), 'quartermaster-cli-'));
});
afterAll(async () => {
  await db.end();
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

function qm(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const settings = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: database.url, DATA_DIR: dataDir, ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: settings, timeout: 100_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr });
    });
  });
}

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await qm([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** As a service with the server secret of this directory looks keys up. */
const serverSecret = () => new Secrets(readFileSync(join(dataDir, 'secrets.key'), 'utf8').trim());
const ring = () => new KeyRing({ db, secrets: serverSecret() });
const makeAccount = async () => (await json('accounts', 'create')).account_id as string;

describe('qm', () => {
  test('tells its version', async () => {
    expect(await qm(['--version'])).toEqual({ code: 0, stdout: `${release.version}\n`, stderr: '' });
  });

  test('credit to begin with is told apart from the sign-up credit', async () => {
    expect(await json('accounts', 'create', '--credit', '5')).toMatchObject({
      balance_usd: 7,
      signup_credit_usd: 2,
      paid_credit_usd: 5,
    });
    const { stdout } = await qm(['accounts', 'create', '--credit', '5']);
    expect(stdout).toMatch(/^created acct_anon_\w+ with 7 USD: 5 USD paid credit and 2 USD sign-up credit\n$/);
    const bound = await qm(['accounts', 'create', '--email', 'grace@example.org']);
    expect(bound.stdout).toMatch(/^created acct_email_\w+ with 0 USD\n$/);
  });

  test('what docs/sqs.md says prints what clients of SQS and S3 sign with, and where they are served', async () => {
    const account = await makeAccount();
    const { key_id: keyId } = await json('keys', 'create', '--account', account);
    const page = readFileSync(join(import.meta.dirname, '../../docs/sqs.md'), 'utf8');
    const [, command = ''] = /`npm run --silent qm -- (keys aws [^`]+)`/.exec(page) ?? [];
    const { code, stdout } = await qm(command.replace('KEY_ID', `${keyId}`).replace('ACCOUNT_ID', account).split(' '));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^access_key_id .+\nsecret_access_key .+\nregion .+\ns3_endpoint .+\nsqs_endpoint .+\n$/);
  });

  test('creates an account, credits it, and makes a key that works', async () => {
    const account = await makeAccount();
    expect(account).toMatch(/^acct_anon_/);
    expect(
      await json('credit', 'grant', '--account', account, '--usd', '0.25', '--expires-days', '3', '--promo'),
    ).toMatchObject({
      account_id: account,
      grant_id: expect.stringMatching(/^grant_/),
      kind: 'promo',
      amount_usd: 0.25,
      balance_usd: 2.25,
      expires_at: expect.any(String),
    });
    const made = await json('keys', 'create', '--account', account, '--name', 'ci', '--scopes', 'queue, account:read');
    expect(made).toMatchObject({
      account_id: account,
      key_id: expect.stringMatching(/^key_/),
      name: 'ci',
      scopes: ['queue', 'account:read'],
    });
    expect(await ring().find(made.key_secret as string)).toMatchObject({
      accountId: account,
      id: made.key_id,
    });
    const aws = await json('keys', 'aws', made.key_id as string, '--account', account);
    const secretKey = secretAccessKey(serverSecret(), secretHash(made.key_secret as string));
    expect(aws).toMatchObject({ access_key_id: made.key_id, secret_access_key: secretKey, region: 'us-east-1' });
    expect((await qm(['keys', 'aws', made.key_id as string, '--account', await makeAccount()])).code).not.toBe(0);
    expect(await json('keys', 'revoke', made.key_id as string, '--account', account)).toMatchObject({
      status: 'revoked',
    });
    expect(await ring().find(made.key_secret as string)).toBe('revoked');
    const { items } = await json('keys', 'list', '--account', account);
    expect(items).toEqual([expect.objectContaining({ key_id: made.key_id, status: 'revoked' })]);
    expect(JSON.stringify(items)).not.toContain('key_secret');
  });

  test('creates an account with credit, in one transaction', async () => {
    expect(await json('accounts', 'create', '--name', 'rich', '--credit', '10')).toMatchObject({ balance_usd: 12 });
    const bound = await json('accounts', 'create', '--email', 'a@example.org', '--credit', '0.25');
    expect(bound).toMatchObject({ account_id: expect.stringMatching(/^acct_email_/), balance_usd: 0.25 });
    expect(await json('accounts', 'create')).toMatchObject({ balance_usd: 2 });
  });

  test.each<[string[], number | null, string | null]>([
    [['--scopes', 'errors.capture,errors.message'], 1, 'daily'],
    [['--scopes', 'errors.capture'], 1, 'daily'],
    [['--scopes', 'errors.capture', '--spend-cap-usd', 'none'], null, null],
    [['--scopes', 'errors.capture', '--spend-cap-usd', '0.5', '--spend-cap-period', 'monthly'], 0.5, 'monthly'],
    [['--scopes', 'errors'], null, null],
    [['--spend-cap-usd', '5'], 5, 'total'],
    [[], null, null],
  ])('a key made with %j has a spend cap of %j USD %j', async (options, cap, period) => {
    const made = await json('keys', 'create', '--account', await makeAccount(), ...options);
    expect(made).toMatchObject({ spend_cap_usd: cap, spend_cap_period: period });
  });

  test('makes no key with another server secret than that of the deployment', async () => {
    const account = await makeAccount();
    await json('keys', 'create', '--account', account);
    const create = (env: Record<string, string>) => qm(['keys', 'create', '--account', account], env);
    const elsewhere = mkdtempSync(join(tmpdir(), 'quartermaster-cli-'));
    expect(await create({ SECRETS_KEY: 'the secret of another deployment' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the server secret is not the one this database was made with'),
    });
    expect(await create({ DATA_DIR: elsewhere })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('set SECRETS_KEY'),
    });
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });

  test('lists accounts, changes their tier, suspends them and lifts the suspension', async () => {
    const account = await makeAccount();
    expect(await json('accounts', 'update', '--account', account, '--tier', 'pro', '--suspend')).toMatchObject({
      tier: 'pro',
      suspended: true,
    });
    expect(await json('accounts', 'update', '--account', account, '--unsuspend')).toMatchObject({
      tier: 'pro',
      suspended: false,
    });
    expect((await json('accounts', 'list')).items).toContainEqual(
      expect.objectContaining({ account_id: account, tier: 'pro' }),
    );
  });

  test('the doctor is content, and says by its exit code when it is not; what it found last is kept for the operator', async () => {
    const account = await makeAccount();
    const { ok, findings, accounts, warnings } = await json('doctor');
    const expected = database.distributed ? await engineWarnings(db) : [];
    expect({ ok, findings, warnings }).toEqual({ ok: true, findings: [], warnings: expected });
    expect(await lastDoctorResult(db)).toMatchObject({ accounts, findings: 0 });
    await db.query(
      { name: 'damage', text: 'UPDATE core.wallet SET balance_nanos = balance_nanos + 1 WHERE account_id = $1' },
      [account],
    );
    const { code, stdout } = await qm(['doctor', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ account_id: account, check: 'balance' })]),
    });
    expect(await lastDoctorResult(db)).toMatchObject({ accounts, findings: JSON.parse(stdout).findings.length });
    await db.query(
      { name: 'repair', text: 'UPDATE core.wallet SET balance_nanos = balance_nanos - 1 WHERE account_id = $1' },
      [account],
    );
  });

  test('the doctor says which private networks may be sent to, and read', async () => {
    const env = { ALLOW_PRIVATE_TARGETS: '10.0.0.0/8', ALLOW_PRIVATE_SOURCES: '192.168.7.0/24' };
    const { stdout } = await qm(['doctor'], env);
    expect(stdout).toContain('note: ALLOW_PRIVATE_TARGETS lets webhooks, push and cron send to 10.0.0.0/8');
    expect(stdout).toContain('note: ALLOW_PRIVATE_SOURCES lets every account read 192.168.7.0/24');
    expect((await qm(['doctor'])).stdout).not.toContain('note:');
    const shown = JSON.parse((await qm(['doctor', '--json'], env)).stdout);
    expect(shown).toMatchObject({
      allow_private_targets: ['10.0.0.0/8'],
      allow_private_sources: ['192.168.7.0/24'],
    });
  });

  test('the clock moves only for a service with a test clock, adds up, and is seen by plans that are prepared already', async () => {
    const now = async () =>
      (await db.query<{ now: number }>({ name: 'cli_now', text: 'SELECT core.clock_now() AS now' }, [])).rows[0]?.now ??
      0;
    const before = await now();
    expect(await qm(['clock', 'advance', '--seconds', '60'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('TEST_CLOCK=on'),
    });
    await db.query({ name: 'switch_on', text: `INSERT INTO core.setting VALUES ('test_clock', 'on')` }, []);
    expect(await json('clock', 'advance', '--seconds', '86400')).toMatchObject({
      advanced_seconds: 86_400,
      offset_seconds: 86_400,
    });
    expect(await json('clock', 'advance', '--seconds', '60')).toMatchObject({ offset_seconds: 86_460 });
    // Such a database is refused by a service that is not one for tests.
    await expect(switchTestClock(db, false)).rejects.toThrow(/was moved by 86460 s/);
    await expect(switchTestClock(db, true)).resolves.toBeUndefined();
    const moved = (await now()) - before;
    expect(moved).toBeGreaterThanOrEqual(86_460_000);
    expect(moved).toBeLessThan(86_460_000 + 60_000);
  });

  test('migrate finds nothing to do; gen answers a secret that SECRETS_KEY takes', async () => {
    expect(await json('migrate')).toEqual({ version: expect.any(Number), applied: [] });
    const { secrets_key } = await json('gen');
    expect(secrets_key).toMatch(/^[\w-]{43}$/);
  });

  test.each([
    [['accounts', 'update', '--account', 'acct_none', '--tier', 'pro'], 1, 'qm: there is no account acct_none'],
    [['keys', 'create', '--account', 'acct_none'], 1, 'qm: there is no account acct_none'],
    [
      ['keys', 'create', '--account', 'acct_none', '--scopes', 'queu'],
      1,
      'qm: "queu" is not a scope. Did you mean "queue"? (INVALID_SCOPE)',
    ],
    [['keys', 'list', '--account', 'acct_none'], 1, 'qm: there is no account acct_none'],
    [['credit', 'grant', '--account', 'acct_none', '--usd', '1'], 1, 'qm: there is no account acct_none'],
    [['credit', 'grant', '--account', 'acct_none', '--usd', '0'], 2, 'must be above 0'],
    [['credit', 'grant', '--account', 'acct_none', '--usd', '1e3'], 2, 'Expected an amount'],
    [['credit', 'grant', '--account', 'acct_none', '--usd', '0.0000000001'], 2, 'at most nine decimals'],
    [['clock', 'advance', '--seconds', '-5'], 2, 'Expected a whole number'],
    [['accounts', 'update', '--account', 'acct_none'], 2, 'nothing to change'],
    [['accounts', 'update', '--account', 'acct_none', '--tier', 'team'], 2, 'standard, pro, enterprise'],
    [['keys', 'create'], 2, '--account'],
    [['keys', 'create', '--account', 'a', '--spend-cap-usd', '-1'], 2, 'Expected an amount'],
    [['keys', 'create', '--account', 'a', '--spend-cap-period', 'daily'], 2, '--spend-cap-usd'],
    [['accounts', 'create', '--credit', '0'], 2, 'must be above 0'],
    [['nonsense'], 2, 'unknown command'],
    [['accounts', 'list', '--nonsense'], 2, 'unknown option'],
  ])('%j exits with %i and one clear line', async (args, code, line) => {
    const result = await qm(args);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(line) });
    expect(result.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  });

  test.each([
    ['serve'],
    ['migrate'],
    ['doctor'],
    ['accounts', 'create'],
    ['accounts', 'list'],
    ['accounts', 'update'],
    ['keys', 'create'],
    ['keys', 'list'],
    ['keys', 'revoke'],
    ['credit', 'grant'],
    ['clock', 'advance'],
    ['gen'],
  ])('%s %s explains itself and knows --json', async (...args) => {
    const { code, stdout } = await qm([...args.filter((arg) => typeof arg === 'string'), '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('--json');
  });

  test('a wrong setting exits with 78', async () => {
    expect(await qm(['accounts', 'list'], { PORT: 'x' })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('PORT'),
    });
  });

  test('a database that cannot be reached is one line', async () => {
    const result = await qm(['accounts', 'list'], { DATABASE_URL: 'postgresql://u:p@127.0.0.1:1/d' });
    expect(result.code).toBe(1);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
  });

  test('a database without a schema is told what to run', async () => {
    const empty = await createTestDatabase('template0');
    expect(await qm(['accounts', 'list'], { DATABASE_URL: empty.url })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('migrate'),
    });
    expect((await qm(['migrate'], { DATABASE_URL: empty.url })).stdout).toMatch(/^schema version \d+: applied 1/);
    expect((await qm(['accounts', 'list'], { DATABASE_URL: empty.url })).code).toBe(0);
    await empty.drop();
  });
});
