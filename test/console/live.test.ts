// The stream of ticks that open pages follow: it tells that something has moved and nothing else, has bounds, and ends with who followed it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import type { PageVisitor } from '../support/page-visitor.ts';
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

test('a tick says that something has moved, and nothing else', async () => {
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
  for (const each of [stream, other]) each.close();
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

test('the stream of a busy account ends with its session', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const [stream, other] = [await follow(visitor), await follow(await signedIn(service.url, account.secret))];
  await visitor.post('/auth/sign-out', { form_token: await visitor.formToken('/console') });
  await whileBusy(stream.hasEnded);
  expect(other.hasEnded()).toBe(false);
  other.close();
});

test('the stream of a key ends when the key is revoked', async () => {
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'short', scopes: ['account:read'] });
  const { key_secret: secret, id } = body.data;
  const stream = await follow(await signedIn(service.url, secret));
  expect(stream.status).toBe(200);
  expect((await call('DELETE', `/v1/account/keys/revoke/${id}`)).status).toBe(200);
  await whileBusy(stream.hasEnded);
});
