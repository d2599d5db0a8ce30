// A running service for tests: in this process on a database of its own, or as a child process that can be killed.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import { inject } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { type Admission, admission } from '../../src/core/admission.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { createLog } from '../../src/core/process/log.ts';
import type { Logger } from '../../src/core/process/logger.ts';
import { advanceTestClock } from '../../src/core/process/test-clock.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import type { Module } from '../../src/kit/module.ts';
import type { Services } from '../../src/kit/services.ts';
import { NANOS_PER_USD } from '../../src/lib/money.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { type Service, startService } from '../../src/service/start-service.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { SITE_NETWORK } from './site.ts';

export interface TestService {
  readonly service: Service;
  readonly core: Services;
  readonly url: string;
  readonly database: TestDatabase;
  /** Moves the database clock of this service forward. */
  advance(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  readonly env?: Record<string, string>;
  /** Share the database of another service: a second process's worth. It is then not dropped at stop. */
  readonly database?: TestDatabase;
  readonly extraModules?: readonly Module[];
  readonly migrations?: string;
  /** Bounds other than those of the service. */
  readonly admission?: { readonly [Level in Exclude<keyof Admission, 'processes'>]?: Partial<Admission[Level]> };
  readonly log?: Logger | undefined;
  /** Of a file that counts what is in whole tables, or looks at the plans of empty ones: no service that has served another file. */
  readonly isFresh?: boolean | undefined;
}

/**
 * What is no test of waiting is not refused, or read last, because the machine is busy; a test of it gives its own bounds. A connection
 * takes PostgreSQL some 40 ms of processor time before it answers, and background work opens as many as it may.
 */
const OF_TESTS = { turnWaitMs: 10_000, turnBurstWaitMs: 10_000, bodyThreadNiceness: 0, databaseConnections: 3 };

export const SECRETS_KEY = 'a secret of the tests, long enough to be one';

/** Starts a service on a free port and a database of its own, without rate limits unless asked for. */
/** Where the files of a database lie: all services of one keep them in one place. */
const assetsOf = new WeakMap<TestDatabase, string>();

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.database ?? (await createTestDatabase());
  const dataDir = await mkdtemp(join(tmpdir(), 'qm-test-'));
  const assets = assetsOf.get(database) ?? pathToFileURL(join(dataDir, 'assets')).href;
  assetsOf.set(database, assets);
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    ASSETS_URL: assets,
    DATABASE_URL: database.url,
    SECRETS_KEY,
    RATE_LIMITS: 'off',
    TEST_CLOCK: 'on',
    LOG_LEVEL: 'silent',
    VIDEO_SANDBOX_THREADS: '3',
    // What examples read of the web, without waiting for turns of its host.
    ALLOW_PRIVATE_SOURCES: SITE_NETWORK,
    WEB_HOST_INTERVAL_MS: '0',
    CHROMIUM_PATH: inject('chromium') ?? '',
    ...options.env,
  });
  const { connection, webSocket, address, all, account, rendering, proxy, doors, call } = options.admission ?? {};
  const service = await startService(config, {
    log: options.log ?? createLog(config.logLevel),
    extraModules: options.extraModules,
    migrations: options.migrations,
    admission: {
      processes: 1,
      connection: { ...admission.connection, ...connection },
      webSocket: { ...admission.webSocket, ...webSocket },
      address: { ...admission.address, ...address },
      all: { ...admission.all, ...OF_TESTS, ...all },
      account: { ...admission.account, ...account },
      rendering: { ...admission.rendering, ...rendering },
      proxy: { ...admission.proxy, ...proxy },
      doors: { ...admission.doors, ...doors },
      call: { ...admission.call, ...call },
    },
  });
  running.add(service.core);
  return {
    service,
    core: service.core,
    url: service.baseUrl,
    database,
    async advance(seconds) {
      await advanceTestClock(service.core.db, seconds);
    },
    async stop() {
      running.delete(service.core);
      await service.stop();
      if (options.database === undefined) await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Of the services of this worker. */
const running = new Set<Services>();

/** The code of the last mail to the address, of any running service. */
export async function mailedCode(to: string): Promise<string> {
  const found = await Promise.all([...running].map(({ db }) => listMails(db, { limit: 100 })));
  const [mail] = found
    .flat()
    .filter((each) => each.to === to)
    .sort((a, b) => b.mail_id.localeCompare(a.mail_id));
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0];
  if (code === undefined) throw new Error(`no mail with a code went to ${to}`);
  return code;
}

export interface TestAccount {
  readonly accountId: string;
  readonly keyId: string;
  readonly secret: string;
}

/** An account with `usd` of paid credit (and no sign-up credit left over) and a key for everything, or for `scopes`. */
export async function createTestAccount(
  core: Services,
  usd = 100,
  scopes: string[] | null = null,
): Promise<TestAccount> {
  return core.db.transaction(async (tx) => {
    const accountId = await createAccount(tx, { email: `${randomBytes(6).toString('hex')}@example.org` });
    const nanos = BigInt(Math.round(usd * 1e6)) * (NANOS_PER_USD / 1_000_000n);
    if (nanos > 0n)
      await grantCredit(tx, accountId, { kind: 'paid', amountNanos: nanos, expiresInMs: null, note: null });
    const nowMs = await lockCaller(tx, accountId);
    const { key, secret } = await createKey(
      tx,
      core.secrets,
      accountId,
      { name: null, scopes, expiresAtMs: null, cap: null },
      nowMs,
    );
    return { accountId, keyId: key.keyId, secret };
  });
}

const makeOperator = {
  name: 'test_make_operator',
  text: `UPDATE core.setting SET value = $1 WHERE name = 'operator_account'`,
};

const withTestOperator = new WeakSet<Services>();

/** Whether another than the first account has become the operator's. */
export function hasTestOperator(core: Services): boolean {
  return withTestOperator.has(core);
}

/** The same account as the operator's: it takes the place of the one before, and its key may do everything. */
export async function createTestOperator(core: Services, usd = 100): Promise<TestAccount> {
  const { accountId } = await createTestAccount(core, usd);
  withTestOperator.add(core);
  return core.db.transaction(async (tx) => {
    await tx.query(makeOperator, [accountId]);
    const nowMs = await lockCaller(tx, accountId);
    const fields = { name: null, scopes: ['*', 'operator'], expiresAtMs: null, cap: null };
    const { key, secret } = await createKey(tx, core.secrets, accountId, fields, nowMs);
    return { accountId, keyId: key.keyId, secret };
  });
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any;
}

/**
 * A client of one service with one key. `call('POST', '/v1/queue/create', {...})`; a body that is text, bytes or a stream is sent as it is.
 * It takes a third of the processor time of `fetch`, follows no redirect, and sends no headers of its own.
 */
export function client(url: string, secret?: string) {
  return async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const answer = await request(url + path, {
      method: method as 'GET',
      headers: {
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isWritten(body) ? body : JSON.stringify(body),
    });
    const text = await answer.body.text();
    const told = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    );
    return {
      status: answer.statusCode,
      headers: new Headers(told),
      text,
      body: text.startsWith('{') ? JSON.parse(text) : null,
    };
  };
}

export type Client = ReturnType<typeof client>;

function isWritten(body: unknown): body is string | Buffer | Readable | undefined {
  return body === undefined || typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable;
}
