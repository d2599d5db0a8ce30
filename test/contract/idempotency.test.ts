// Idempotency keys on every write: one effect, one charge, the first answer again (contract §4).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { eventually } from '../cron/harness.ts';
import { accountRows } from '../support/account-rows.ts';
import {
  byId,
  callCapability,
  capabilities,
  createPlayer,
  endVideosAfter,
  httpCall,
  type Input,
  prepareExample,
} from '../support/capabilities.ts';
import { openRaw } from '../support/raw.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { otherRequest } from './other-request.ts';

const idempotent = capabilities.filter((capability) => capability.idempotent).map(({ id }) => id);
const writesWithout = capabilities
  .filter(({ method, idempotent: takes }) => method !== 'GET' && !takes)
  .map(({ id }) => id);
let service: TestService;

beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
});
afterAll(() => service.stop());

interface Prepared {
  readonly account: TestAccount;
  readonly call: Client;
  readonly input: Input;
  rows(): Promise<object>;
}

async function prepare(id: string, endVideosOf: (call: Client) => Client): Promise<Prepared> {
  const account = await createPlayer(service.core, byId(id));
  const call = endVideosOf(client(service.url, account.secret));
  const input = await prepareExample(call, byId(id));
  const rows = async () => {
    // What goes on without the call is over.
    if (id.startsWith('ai.batch.')) await batchesOver(call);
    return accountRows(service.core.db, account.accountId);
  };
  return { account, call, input, rows };
}

async function batchesOver(call: Client): Promise<void> {
  await eventually(async () => {
    const { body } = await call('GET', '/v1/ai/batch/list?limit=100');
    return body.data.items.every(({ finished_at }: { finished_at: string | null }) => finished_at !== null);
  });
}

const key = (value: string) => ({ 'idempotency-key': value });

describe.each(idempotent)('%s', (id) => {
  const endVideosOf = endVideosAfter(afterAll);
  let prepared: Prepared;
  let answer: Reply;
  let after: object;

  test('a failure is not kept: the key is free afterwards, and four at once have one effect, the others replays', async () => {
    prepared = await prepare(id, endVideosOf);
    const { call, input, rows } = prepared;
    const { method, path } = httpCall(byId(id), input);
    expect((await call(method, path, '{', key('k 1'))).status).toBe(400);
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => callCapability(call, byId(id), input, key('k 1'))),
    );
    for (const { body } of replies) expect(body.error?.code ?? 'ok').toMatch(/^(ok|IDEMPOTENCY_IN_FLIGHT)$/);
    const succeeded = replies.filter(({ status }) => status === 200);
    const first = succeeded.filter(({ body }) => !body.metadata.idempotent_replay);
    expect(first).toHaveLength(1);
    expect(new Set(succeeded.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
    [answer] = first as [Reply];
    expect(answer.body).toMatchObject({ ok: true, metadata: { idempotent_replay: false } });
    after = await rows();
  });

  test('a repetition costs nothing and answers the same data, wherever the key stands', async () => {
    const { call, input } = prepared;
    const again = [
      await callCapability(call, byId(id), input, key('k 1')),
      await callCapability(call, byId(id), { ...input, idempotency_key: 'k 1' }),
      await callCapability(call, byId(id), { ...input, idempotency_key: 'k 1' }, key('k 1')),
    ];
    if (byId(id).method === 'DELETE') {
      const { method, path } = httpCall(byId(id), input);
      again.push(await call(method, path, { idempotency_key: 'k 1' }));
    } else {
      const { method, path, body = {} } = httpCall(byId(id), input);
      const reordered = Object.fromEntries(Object.entries({ ...body, idempotency_key: 'k 1' }).reverse());
      again.push(await call(method, path, ` ${JSON.stringify(reordered, null, 3)}\n`));
    }
    for (const reply of again) {
      expect(reply.body).toMatchObject({ ok: true, metadata: { idempotent_replay: true, cost_usd: 0 } });
      expect(reply.body.data).toEqual(answer.body.data);
    }
  });

  // What takes no fields has no other request.
  if (Object.keys(byId(id).input.properties).length > 0)
    test('the key with another request is refused', async () => {
      const { call, input } = prepared;
      const { status, body } = await callCapability(call, byId(id), otherRequest(id, input), key('k 1'));
      // Also when the other request names an id where there is nothing: a replay is judged before existence.
      expect([status, body.error?.code, body.error?.param]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED', 'idempotency_key']);
    });

  test('all of that has changed nothing since the first answer', async () => {
    expect(await prepared.rows()).toEqual(after);
  });
});

describe('several Idempotency-Key headers', () => {
  /** As sent: fetch would join the headers itself. */
  async function create(account: TestAccount, name: string, ...keys: string[]): Promise<Reply['body']> {
    const raw = await openRaw(service.url);
    const text = JSON.stringify({ name });
    const headers = ['Host: here', `Authorization: Bearer ${account.secret}`, 'Content-Type: application/json'];
    headers.push(...keys.map((value) => `Idempotency-Key: ${value}`), `Content-Length: ${text.length}`);
    raw.send(['POST /v1/queue/create HTTP/1.1', ...headers, '', text].join('\r\n'));
    const answer = await raw.receive((all) => all.endsWith('}}'));
    raw.destroy();
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  }

  test('that differ are refused, whatever they join to', async () => {
    const account = await createTestAccount(service.core);
    const error = {
      code: 'INVALID_IDEMPOTENCY_KEY',
      code_detail: 'conflict',
      http_status: 400,
      param: 'idempotency_key',
    };
    expect(await create(account, 'jobs', 'a', 'b')).toMatchObject({ ok: false, error });
    expect(await create(account, 'jobs', 'a', '')).toMatchObject({ ok: false, error });
    expect(await create(account, 'jobs', 'a', 'a', 'a, a')).toMatchObject({ ok: false, error });
  });

  test('that are equal are one key, and a comma in a key is part of it', async () => {
    const account = await createTestAccount(service.core);
    expect(await create(account, 'jobs', 'a', 'a')).toMatchObject({ metadata: { idempotent_replay: false } });
    expect(await create(account, 'jobs', 'a')).toMatchObject({ metadata: { idempotent_replay: true } });
    expect(await create(account, 'jobs', 'a, a')).toMatchObject({ metadata: { idempotent_replay: false } });
  });
});

describe.skipIf(writesWithout.length === 0)('writes that take no key', () => {
  const endVideosOf = endVideosAfter(afterEach);
  test.each(writesWithout)('%s names it in warnings, wherever it stands', async (id) => {
    const [first, second] = [await prepare(id, endVideosOf), await prepare(id, endVideosOf)];
    const replies = [
      await callCapability(first.call, byId(id), first.input, key('k')),
      await callCapability(second.call, byId(id), { ...second.input, idempotency_key: 'k' }),
    ];
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(body.metadata).toMatchObject({
        idempotent_replay: false,
        warnings: [expect.stringMatching(/^idempotency_key: ignored/)],
      });
    }
  });
});

describe('failures', () => {
  test('402 is not kept: after a top-up the same key succeeds', async () => {
    const { accountId, secret } = await createTestAccount(service.core, 0);
    const call = client(service.url, secret);
    await call('POST', '/v1/queue/create', { name: 'jobs' });
    const publish = () => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} }, key('k'));
    expect((await publish()).body.error).toMatchObject({ code: 'INSUFFICIENT_CREDIT', code_detail: 'balance' });
    const credit = { kind: 'paid', amountNanos: 20_000n, expiresInMs: null, note: null } as const;
    await service.core.db.transaction((tx) => grantCredit(tx, accountId, credit));
    expect((await publish()).body.metadata).toMatchObject({
      idempotent_replay: false,
      cost_usd: 0.00002,
      balance_usd: 0,
    });
    expect((await publish()).body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0, balance_usd: 0 });
  });

  test('404 is not kept: once the queue is there the same key succeeds', async () => {
    const { secret } = await createTestAccount(service.core);
    const call = client(service.url, secret);
    const publish = () => call('POST', '/v1/queue/publish', { queue: 'later', payload: {} }, key('k'));
    expect((await publish()).status).toBe(404);
    await call('POST', '/v1/queue/create', { name: 'later' });
    expect((await publish()).body.metadata.idempotent_replay).toBe(false);
  });

  test('a key is kept for a day, of keys for 30', async () => {
    const { secret } = await createTestAccount(service.core);
    const call = client(service.url, secret);
    const create = () => call('POST', '/v1/queue/create', { name: 'daily' }, key('k'));
    const mint = () => call('POST', '/v1/account/keys/create', {}, key('k'));
    await create();
    const { body } = await mint();
    await service.advance(23 * 3600);
    expect((await create()).body.metadata.idempotent_replay).toBe(true);
    await service.advance(2 * 3600);
    expect((await create()).body.metadata.idempotent_replay).toBe(false);
    await service.advance(28 * 86_400);
    expect((await mint()).body.data).toEqual(body.data);
    await service.advance(2 * 86_400);
    expect((await mint()).body.metadata.idempotent_replay).toBe(false);
  });

  test('numbers beyond a double make another request', async () => {
    const { secret } = await createTestAccount(service.core);
    const call = client(service.url, secret);
    await call('POST', '/v1/queue/create', { name: 'exact' });
    const publish = (n: string) =>
      call('POST', '/v1/queue/publish', `{"queue":"exact","payload":{"n":${n}},"idempotency_key":"k"}`);
    expect((await publish('12345678901234567890')).status).toBe(200);
    expect((await publish('12345678901234567891')).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await publish('12345678901234567890')).body.metadata.idempotent_replay).toBe(true);
  });
});

describe('a call that is still running', () => {
  test.each([
    ['queue.create', { name: 'made' }],
    ['account.keys.create', {}],
  ])('%s: its key is in flight for others; they wait two seconds and are told so', async (id, input) => {
    const { accountId, secret } = await createTestAccount(service.core);
    const call = client(service.url, secret);
    const { db, secrets } = service.core;
    await db.transaction(async (tx) => {
      const claim = `INSERT INTO core.idempotency (account_id, key_hash, fingerprint, created_at, expires_at)
                     VALUES ($1, $2, '', core.clock_now(), core.clock_now() + interval '1 day')`;
      await tx.query({ name: 'test_claim', text: claim }, [accountId, secrets.idempotencyHash(id, 'k')]);
      const { status, body, headers } = await callCapability(call, byId(id), input, key('k'));
      expect([status, body.error.code, body.error.retryable]).toEqual([409, 'IDEMPOTENCY_IN_FLIGHT', true]);
      expect(body.error.retry_after_ms).toBeGreaterThan(0);
      expect(headers.get('retry-after')).toBeNull();
      await tx.query({ name: 'test_unclaim', text: 'DELETE FROM core.idempotency WHERE account_id = $1' }, [accountId]);
    });
    expect((await callCapability(call, byId(id), input, key('k'))).status).toBe(200);
  });
});

describe('a replay', () => {
  test.each([
    ['queue.dlq.redrive', { queue: 'gone' }],
    ['queue.update', { queue: 'gone', max_retries: 2 }],
    ['queue.purge', { queue: 'gone' }],
    ['queue.publish', { queue: 'gone', payload: {} }],
  ])('%s: comes before the question whether the queue is still there', async (id, input) => {
    const { secret } = await createTestAccount(service.core);
    const call = client(service.url, secret);
    await call('POST', '/v1/queue/create', { name: 'failed' });
    await call('POST', '/v1/queue/create', { name: 'gone', dead_letter_queue: 'failed' });
    const first = await callCapability(call, byId(id), input, key('k'));
    await call('DELETE', '/v1/queue/delete/gone');
    const again = await callCapability(call, byId(id), input, key('k'));
    expect(again.body).toMatchObject({ ok: true, metadata: { idempotent_replay: true } });
    expect(again.body.data).toEqual(first.body.data);
  });
});
