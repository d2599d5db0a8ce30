// The stream of ticks that open pages follow: it tells that something has moved and nothing else, has bounds, and ends with who followed it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeMember } from '../../src/people/persons.ts';
import { findSession, type Session } from '../../src/people/sessions/sessions.ts';
import { LiveTicks } from '../../src/surfaces/console/live.ts';
import { personSession, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let call: Client;
beforeAll(async () => {
  service = await startTestService();
  account = await createTestAccount(service.core, 5);
  call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
});
afterAll(() => service?.stop());

const publish = () => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });

/** As the script of an open page fetches it again. */
const REFETCH = { 'x-qm-refetch': '1' };
const HOUR_SECONDS = 3_600;

/** A browser in which a new person is signed in. */
async function personsBrowser(role: 'owner' | 'viewer'): Promise<PageVisitor & { session: Session }> {
  const visitor = new PageVisitor(service.url);
  const email = `${role}-${performance.now()}@example.org`;
  const token = await personSession(service.core, { accountId: account.accountId, email, name: 'Somebody', role });
  visitor.cookies.set('qm_session', token);
  const found = await findSession(service.core.db, token);
  if (found === null) throw new Error('nobody is signed in');
  return Object.assign(visitor, { session: found.session });
}

interface Stream {
  readonly status: number;
  /** All that has come. */
  text(): string;
  hasEnded(): boolean;
  close(): void;
}

async function follow({ cookies }: PageVisitor): Promise<Stream> {
  const abort = new AbortController();
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${service.url}/console/live?since=`, { headers: { cookie }, signal: abort.signal });
  let [text, ended] = ['', false];
  void (async () => {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
  })()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  return { status: response.status, text: () => text, hasEnded: () => ended, close: () => abort.abort() };
}

/** Publishes again and again until it has come true: a busy account is told ticks all the time. */
async function whileBusy(isTrue: () => boolean): Promise<void> {
  const untilMs = performance.now() + 30_000;
  while (!isTrue() && performance.now() < untilMs) {
    expect((await publish()).status).toBe(200);
    await sleep(200);
  }
  expect(isTrue()).toBe(true);
}

test('a tick says that something has moved, and nothing else, at most every two seconds', async () => {
  const begunMs = performance.now();
  const stream = await follow(await signedIn(service.url, account.secret));
  await whileBusy(() => stream.text().split('data: moved').length > 2);
  expect(stream.text().replaceAll(/^(:.*|data: moved|)\n/gm, '')).toBe('');
  const quiet = await createTestAccount(service.core, 5);
  const other = await follow(await signedIn(service.url, quiet.secret));
  const before = other.text();
  await publish();
  await whileBusy(() => stream.text().split('data: moved').length > 3);
  // The page of another account has nothing to do with it. Its own first tick tells what moved since it was made.
  expect(other.text().slice(before.length).split('data: moved').length).toBeLessThanOrEqual(2);
  const ticks = stream.text().split('data: moved').length - 1;
  expect(performance.now() - begunMs).toBeGreaterThanOrEqual(2_000 * ticks);
  for (const each of [stream, other]) each.close();
});

/** Ticks of their own, with the statements that they have sent. */
function countedTicks(intervals: ConstructorParameters<typeof LiveTicks>[2]) {
  const { core } = service;
  let statements = 0;
  const query = (...args: Parameters<typeof core.db.query>) => {
    statements += 1;
    return core.db.query(...args);
  };
  const counting = { ...core, db: { query } as unknown as typeof core.db };
  return { ticks: new LiveTicks(counting, { capabilities: [] }, intervals), statements: () => statements };
}

async function next(stream: AsyncGenerator<string> | null): Promise<string> {
  const { value, done } = (await stream?.next()) ?? { done: true };
  if (done === true || typeof value !== 'string') throw new Error('the stream has ended');
  return value;
}

test('one read at a time serves all streams of the process', async () => {
  const lookMs = 50;
  const { ticks, statements } = countedTicks({ lookMs, tickEveryMs: 100 });
  const sessions = await Promise.all(Array.from({ length: 4 }, async () => (await personsBrowser('viewer')).session));
  const abort = new AbortController();
  const begunMs = performance.now();
  const streams = sessions.flatMap(({ sessionId, accountId }) =>
    Array.from({ length: 5 }, () => ticks.follow({ sessionId, accountId, since: '' }, abort.signal)),
  );
  let told = 0;
  const read = async (stream: (typeof streams)[number]) => {
    expect(await next(stream)).toMatch(/^:/);
    for (let n = 0; n < 3; n += 1) {
      expect(await next(stream)).toBe('data: moved\n\n');
      told += 1;
    }
  };
  let isOver = false;
  const readAll = Promise.all(streams.map(read)).finally(() => {
    isOver = true;
  });
  while (!isOver) await publish();
  await readAll;
  expect(told).toBe(60);
  const looks = Math.ceil((performance.now() - begunMs) / lookMs);
  // One for what has moved, and at each fifth look one for all sessions.
  expect(statements()).toBeLessThanOrEqual(looks + Math.ceil(looks / 5));
  expect(statements()).toBeGreaterThan(0);
  abort.abort();
});

test('a stream of which nothing is to be told shows that it is alive', async () => {
  const { session } = await personsBrowser('viewer');
  const { ticks } = countedTicks({ beatMs: 20, lookMs: 10 });
  const abort = new AbortController();
  const since = await ticks.mark(session.accountId);
  const stream = ticks.follow({ ...session, since }, abort.signal);
  expect([await next(stream), await next(stream), await next(stream)]).toEqual([
    ': ticks\n\n',
    ': still here\n\n',
    ': still here\n\n',
  ]);
  abort.abort();
  expect(await stream?.next()).toMatchObject({ done: true });
});

test('who has left before the stream began takes no place', async () => {
  const { session } = await personsBrowser('viewer');
  const { ticks } = countedTicks({});
  for (let n = 0; n < 5; n += 1) ticks.follow({ ...session, since: '' }, AbortSignal.abort());
  const abort = new AbortController();
  expect(ticks.follow({ ...session, since: '' }, abort.signal)).not.toBeNull();
  abort.abort();
});

test('a session follows with five pages, also when they are opened at the same time', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const streams = await Promise.all(Array.from({ length: 9 }, () => follow(visitor)));
  expect(streams.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429]);
  for (const stream of streams) stream.close();
  // A place that was left is free again.
  await expect
    .poll(async () => {
      const again = await follow(visitor);
      again.close();
      return again.status;
    })
    .toBe(200);
});

test('the stream of a busy account ends with its session, and with what its person may do', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const [owner, viewer] = [await personsBrowser('owner'), await personsBrowser('viewer')];
  const [ended, removed, other] = [await follow(visitor), await follow(viewer), await follow(owner)];
  await visitor.post('/auth/sign-out', { form_token: await visitor.formToken('/console') });
  const { accountId, personId } = viewer.session;
  await service.core.db.transaction((tx) => removeMember(tx, accountId, personId ?? ''));
  await whileBusy(() => ended.hasEnded() && removed.hasEnded());
  expect(other.hasEnded()).toBe(false);
  other.close();
});

test('the stream of a key ends when the key is revoked', async () => {
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'short', scopes: ['account:read'] });
  const { key_secret: secret, key_id: id } = body.data;
  const stream = await follow(await signedIn(service.url, secret));
  expect(stream.status).toBe(200);
  expect((await call('DELETE', `/v1/account/keys/revoke/${id}`)).status).toBe(200);
  await whileBusy(stream.hasEnded);
});

test('a page that only follows keeps no session alive: 12 hours after its last use it is over', async () => {
  const [left, used] = [await personsBrowser('owner'), await personsBrowser('owner')];
  await service.advance(11 * HOUR_SECONDS);
  expect((await left.get('/console/queues', REFETCH)).status).toBe(200);
  expect((await used.get('/console/queues')).status).toBe(200);
  const stream = await follow(left);
  expect(stream.status).toBe(200);
  await service.advance(2 * HOUR_SECONDS);
  const { status, location } = await left.get('/console/queues', REFETCH);
  expect([status, location?.split('?')[0]]).toEqual([303, '/auth']);
  expect((await used.get('/console/queues', REFETCH)).status).toBe(200);
  await whileBusy(stream.hasEnded);
  expect((await follow(left)).status).toBe(401);
});

test('a session with a new token goes on, whether its page follows or how it looks is chosen', async () => {
  const visitor = await personsBrowser('owner');
  await service.advance(11 * HOUR_SECONDS);
  await visitor.get('/console');
  await service.advance(11 * HOUR_SECONDS);
  const form = { form_token: await visitor.formToken('/console'), theme: 'dark', zone: 'UTC' };
  await service.advance(3 * HOUR_SECONDS);
  const before = visitor.cookies.get('qm_session');
  (await follow(visitor)).close();
  expect((await visitor.post('/console/view', form)).status).toBe(303);
  expect(visitor.cookies.get('qm_console')).toMatch(/^dark/);
  expect(visitor.cookies.get('qm_session')).not.toBe(before);
  // The token before lives for another minute.
  await service.advance(61);
  expect((await visitor.get('/console')).status).toBe(200);
});
