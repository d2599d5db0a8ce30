// Access tokens by OAuth: one refresh for all who call at once, whichever process they call, and what a refusal or a failure leaves.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { client, type Reply, startTestService, type TestService } from '../support/service.ts';
import { startTarget, type Target, type Vault, vaultAt } from './harness.ts';
import { bearersOf, callTogether, connectOAuth, failuresOf, statusOf } from './oauth-harness.ts';
import { CLIENT, type OAuthServer, startOAuthServer } from './oauth-server.ts';

const SERVICES = 3;
const HOUR = 3_600;
const WAIT = { timeout: 30_000, interval: 50 };

let services: TestService[] = [];
let first: TestService;
let target: Target;
let server: OAuthServer;
let vault: Vault;

beforeAll(async () => {
  // own service: it moves the clock, and others share its database.
  first = await startTestService();
  const { database } = first;
  const others = Array.from({ length: SERVICES - 1 }, () => startTestService({ database }));
  services = [first, ...(await Promise.all(others))];
  target = await startTarget();
});
afterAll(async () => {
  await Promise.all(services.slice(1).map((each) => each.stop()));
  await first.stop();
  await target.stop();
});
beforeEach(async () => {
  server = await startOAuthServer();
  vault = await vaultAt(first, target);
  target.seen.length = 0;
});
afterEach(() => server.stop());

/** Its access token has ended on all services. */
const end = () => first.advance(HOUR + 1);
/** Its access token ends in half a minute. */
const nearEnd = () => first.advance(HOUR - 30);
const call = () => callTogether([first], vault, target, 1);

describe('a refresh', () => {
  test('is one for 50 callers over 3 services, each time', async () => {
    await connectOAuth(vault, server);
    for (let ends = 1; ends <= 2; ends += 1) {
      await end();
      target.seen.length = 0;
      expect(failuresOf(await callTogether(services, vault, target, 50))).toEqual([]);
      expect([server.asked.length, server.refused]).toEqual([ends, 0]);
      const [bearer, ...others] = bearersOf(target);
      expect([server.knows(bearer ?? ''), others]).toEqual([true, []]);
    }
  });

  test('does not stop callers while the token is good', async () => {
    const { access } = await connectOAuth(vault, server);
    await nearEnd();
    const answers = Promise.withResolvers<void>();
    server.beforeAnswer = () => answers.promise;
    const refreshing = call();
    await vi.waitFor(() => expect(server.asked.length).toBe(1), WAIT);
    expect(failuresOf(await callTogether(services, vault, target, 8))).toEqual([]);
    expect([bearersOf(target), server.asked.length]).toEqual([[access], 1]);
    answers.resolve();
    expect(failuresOf(await refreshing)).toEqual([]);
    expect((await statusOf(vault)).status).toBe('ready');
  });

  test('keeps the refresh token where none comes anew', async () => {
    server.rotates = false;
    await connectOAuth(vault, server);
    for (let ends = 1; ends <= 2; ends += 1) {
      await end();
      expect(failuresOf(await call())).toEqual([]);
    }
    expect(new Set(server.asked.map(({ form }) => form.refresh_token)).size).toBe(1);
  });

  test('goes on when its caller leaves', async () => {
    await connectOAuth(vault, server);
    await end();
    const answers = Promise.withResolvers<void>();
    server.beforeAnswer = () => answers.promise;
    const left = new AbortController();
    const body = JSON.stringify({ connection: 'forge', url: `${target.url}/x` });
    const headers = { authorization: `Bearer ${vault.account.secret}`, 'content-type': 'application/json' };
    const leaving = fetch(`${first.url}/v1/vault/call`, { method: 'POST', headers, body, signal: left.signal });
    await vi.waitFor(() => expect(server.asked.length).toBe(1), WAIT);
    left.abort();
    await expect(leaving).rejects.toThrow();
    answers.resolve();
    expect(failuresOf(await call())).toEqual([]);
    expect([server.asked.length, server.refused]).toEqual([1, 0]);
  });

  test('is not saved over a credential that was set meanwhile', async () => {
    await connectOAuth(vault, server);
    await end();
    const answers = Promise.withResolvers<void>();
    server.beforeAnswer = () => answers.promise;
    const waiting = call();
    await vi.waitFor(() => expect(server.asked.length).toBe(1), WAIT);
    server.expiresIn = null;
    const { access } = await connectOAuth(vault, server);
    answers.resolve();
    expect(failuresOf(await waiting)).toEqual([]);
    expect(bearersOf(target)).toEqual([access]);
  });

  test('brings a client its first token, and the next', async () => {
    const secret = {
      token_url: server.tokenUrl,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      auth: 'basic',
      scopes: ['a', 'b'],
    };
    await vault.connect({ kind: 'client_credentials', secret });
    expect(failuresOf(await callTogether(services, vault, target, 12))).toEqual([]);
    await end();
    expect(failuresOf(await callTogether(services, vault, target, 12))).toEqual([]);
    expect(server.asked.map(({ form }) => form)).toEqual(
      Array(2).fill({ grant_type: 'client_credentials', scope: 'a b' }),
    );
    const pair = [CLIENT.id, CLIENT.secret]
      .map((each) => new URLSearchParams({ '': each }).toString().slice(1))
      .join(':');
    expect(server.asked[0]?.authorization).toBe(`Basic ${Buffer.from(pair).toString('base64')}`);
  });
});

describe('a refusal', () => {
  test('breaks the connection, tells its queue and the webhooks, once', async () => {
    await vault.call('POST', '/v1/queue/create', { name: 'told' });
    const { refresh } = await connectOAuth(vault, server, { notify: { queue: 'told' } });
    // Somebody else has used it.
    await fetch(server.tokenUrl, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refresh }),
    });
    await end();
    const replies = await callTogether(services, vault, target, 20);
    expect(replies.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array(20).fill([409, 'CONNECTION_BROKEN']),
    );
    const { status, broken_reason: reason } = await statusOf(vault);
    expect([status, reason]).toEqual(['broken', 'the provider refused to refresh it: invalid_grant']);
    expect([target.seen.length, server.refused]).toEqual([0, 1]);
    const message = await vi.waitFor(async () => {
      const { body } = await vault.call('POST', '/v1/queue/consume', { queue: 'told', max_messages: 10 });
      expect(body.data.items).toHaveLength(1);
      return body.data.items[0];
    }, WAIT);
    const told = { connection: 'forge', reason, at: expect.any(String) };
    expect(message.payload).toEqual({ type: 'vault.connection.broken', ...told });
    await vi.waitFor(async () => {
      const { body } = await vault.call('GET', '/v1/account/events/list?limit=100');
      const ofVault = body.data.items.filter(({ type }: { type: string }) => type === 'vault.connection.broken');
      expect(ofVault.map(({ data }: { data: object }) => data)).toEqual([{ object: told }]);
    }, WAIT);
  });

  test('of a token that has ended and has no other breaks it too', async () => {
    const { access } = server.issue();
    const source = { token_url: server.tokenUrl, client_id: CLIENT.id };
    await vault.connect({ kind: 'oauth2', secret: { access_token: access, expires_in: HOUR, ...source } });
    await nearEnd();
    expect(failuresOf(await call())).toEqual([]);
    await end();
    expect((await call())[0]?.body.error.code).toBe('CONNECTION_BROKEN');
    expect([(await statusOf(vault)).status, server.asked.length]).toEqual(['broken', 0]);
  });

  /** Asks for the nth time by one service, which is answered when the test says so. */
  async function asks(
    by: TestService,
    times: number,
  ): Promise<{ answer(status: number, body: object): void; reply: Promise<Reply[]> }> {
    const answer = Promise.withResolvers<readonly [number, object]>();
    server.instead = async (response) => {
      const [status, body] = await answer.promise;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const reply = callTogether([by], vault, target, 1);
    await vi.waitFor(() => expect(server.asked.length).toBe(times), WAIT);
    return { reply, answer: (status, body) => answer.resolve([status, body]) };
  }

  test('by who has lost the lease breaks nothing, whether the next has answered or not', async () => {
    await connectOAuth(vault, server);
    await end();
    const late = await asks(first, 1);
    await first.advance(16);
    const next = await asks(services[1] as TestService, 2);
    late.answer(400, { error: 'invalid_grant' });
    // sleeps: the refused one must go on waiting for the next.
    await expect(Promise.race([late.reply, sleep(500)])).resolves.toBeUndefined();
    expect((await statusOf(vault)).status).toBe('ready');
    next.answer(200, { access_token: 'token-of-the-next', refresh_token: 'refresh-of-the-next', expires_in: HOUR });
    expect(failuresOf([...(await late.reply), ...(await next.reply)])).toEqual([]);
    expect([bearersOf(target), (await statusOf(vault)).status]).toEqual([['token-of-the-next'], 'ready']);
  });

  test('of what a late answer has renewed breaks nothing', async () => {
    await connectOAuth(vault, server);
    await end();
    const late = await asks(first, 1);
    await first.advance(16);
    const next = await asks(services[1] as TestService, 2);
    late.answer(200, { access_token: 'token-of-the-late', refresh_token: 'refresh-of-the-late', expires_in: HOUR });
    expect(failuresOf(await late.reply)).toEqual([]);
    next.answer(400, { error: 'invalid_grant' });
    expect(failuresOf(await next.reply)).toEqual([]);
    expect([bearersOf(target), (await statusOf(vault)).status]).toEqual([['token-of-the-late'], 'ready']);
  });
});

describe('an endpoint that fails', () => {
  test('breaks nothing, is left alone for a while, and costs nothing', async () => {
    await connectOAuth(vault, server);
    await end();
    server.instead = (response) => response.writeHead(503).end();
    const [reply] = await call();
    expect([reply?.status, reply?.body.error]).toMatchObject([
      502,
      { code: 'TARGET_FAILED', code_detail: 'token', retryable: true },
    ]);
    expect(reply?.body.error.retry_after_ms).toBeGreaterThan(0);
    for (let i = 0; i < 5; i += 1) await call();
    expect(server.asked.length).toBe(1);
    expect((await statusOf(vault)).status).toBe('ready');
    const { balance_usd: usd } = (await vault.call('GET', '/v1/account/balance')).body.data;
    expect(usd).toBe(1);
    server.instead = null;
    await vi.waitFor(async () => expect(failuresOf(await call())).toEqual([]), WAIT);
  });

  test('stops nobody while the token is good', async () => {
    const { access } = await connectOAuth(vault, server);
    await nearEnd();
    server.instead = (response) => response.socket?.destroy();
    expect(failuresOf(await call())).toEqual([]);
    expect(bearersOf(target)).toEqual([access]);
  });

  test('that answers no token in a 200 breaks nothing', async () => {
    await connectOAuth(vault, server);
    await end();
    server.instead = (response) => response.writeHead(200).end('<html>Log in</html>');
    expect((await call())[0]?.body.error.code).toBe('TARGET_FAILED');
    expect((await statusOf(vault)).status).toBe('ready');
  });
});

test('a stop waits until the token is saved', async () => {
  const { database } = first;
  const stopping = await startTestService({ database });
  await connectOAuth(vault, server);
  await end();
  const answers = Promise.withResolvers<void>();
  server.beforeAnswer = () => answers.promise;
  const leaving = client(stopping.url, vault.account.secret)('POST', '/v1/vault/call', {
    connection: 'forge',
    url: target.url,
  }).catch(() => null);
  await vi.waitFor(() => expect(server.asked.length).toBe(1), WAIT);
  const stopped = stopping.stop();
  setTimeout(() => answers.resolve(), 200);
  await Promise.all([stopped, leaving]);
  expect(failuresOf(await call())).toEqual([]);
  expect([server.asked.length, server.refused]).toEqual([1, 0]);
});
