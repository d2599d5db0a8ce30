// How long bodies may be, and how much may be in them: what an operation does not need is refused before it is parsed (contract §1).
import { beforeAll, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/envelope.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const KIB = 1024;
let service: SharedService;
let call: Client;

beforeAll(async () => {
  service = await sharedService();
  call = client(service.url, (await createTestAccount(service.core)).secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/vector/collection/create', { collection: 'docs', dimension: 2 });
});

const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 1]));

describe('a body of its operation’s size', () => {
  test.each([
    ['POST', '/v1/queue/ack', { queue: 'jobs', receipt_handle: 'r' }, 16],
    ['POST', '/v1/queue/nack', { queue: 'jobs', receipt_handle: 'r' }, 16],
    ['POST', '/v1/queue/extend', { queue: 'jobs', receipt_handle: 'r', visibility_timeout: 1 }, 16],
    ['POST', '/v1/queue/consume', { queue: 'jobs' }, 16],
    ['POST', '/v1/account/keys/create', { name: 'k' }, 64],
    ['PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 50 }, 64],
    ['POST', '/v1/queue/create', { name: 'other' }, 64],
    ['POST', '/v1/queue/publish', { queue: 'jobs', payload: {} }, 1_024],
    ['POST', '/v1/errors/capture', { message: 'x' }, 1_024],
    ['POST', '/v1/vector/fetch', { collection: 'docs', ids: ['a'] }, 512],
  ])('%s %s passes, one byte more is 413', async (method, path, input, kib) => {
    const body = JSON.stringify(input);
    const passes = await call(method, path, body + ' '.repeat(kib * KIB - body.length));
    expect([passes.status, passes.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    const refused = await call(method, path, body + ' '.repeat(kib * KIB - body.length + 1));
    expectFailure(refused, service.url);
    expect(refused.body.error).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      http_status: 413,
      message: `The body may have at most ${kib * KIB} bytes.`,
    });
  });

  test('discovery tells it, and every write of the account has at most 64 KiB', async () => {
    const { body } = await call('GET', '/v1/discovery');
    const limitOf = async (id: string) => (await call('GET', `/v1/discovery/${id}`)).body.data.limits.body;
    expect(await limitOf('queue.ack')).toBe('16 KiB.');
    expect(await limitOf('vector.upsert')).toBe('32 MiB.');
    expect(await limitOf('account.balance')).toBeUndefined();
    const writes = body.data.capabilities.filter(
      ({ module, method }: { module: string; method: string }) => module === 'account' && method !== 'GET',
    );
    expect(writes.length).toBeGreaterThan(5);
    for (const { id } of writes) expect([id, await limitOf(id)]).toEqual([id, '64 KiB.']);
  });

  test('100 receipts fit', async () => {
    for (let i = 0; i < 10; i += 1)
      await call('POST', '/v1/queue/batch/publish', {
        queue: 'jobs',
        items: Array.from({ length: 10 }, () => ({ payload: {} })),
      });
    const receipts: string[] = [];
    while (receipts.length < 100) {
      const { body } = await call('POST', '/v1/queue/consume', { queue: 'jobs', max_messages: 10 });
      receipts.push(...body.data.items.map((item: { receipt_handle: string }) => item.receipt_handle));
    }
    const { body } = await call('POST', '/v1/queue/ack', { queue: 'jobs', receipts: receipts.slice(0, 100) });
    expect(body.data.items.every(({ acked }: { acked: boolean }) => acked)).toBe(true);
  });
});

describe('members', () => {
  test.each([
    // The same name again is a member again.
    ['/v1/queue/create', `{"name":"again"${',"":1'.repeat(10_000)}}`],
    ['/v1/vector/delete_by_filter', { collection: 'docs', filter: { a: 1 }, list: Array(5_001).fill({ a: { b: 1 } }) }],
    ['/v1/errors/capture', { message: 'x', tags: names(10_001) }],
    ['/v1/queue/publish', { queue: 'jobs', payload: {}, ...names(10_000) }],
  ] as const)('%s with more than 10,000 is 413', async (path, body) => {
    const refused = await call('POST', path, body);
    expectFailure(refused, service.url);
    expect(refused.body.error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', code_detail: 'members', http_status: 413 });
  });

  test('of opaque values do not count: payloads, context, metadata', async () => {
    const many = names(12_000);
    const items = [{ payload: many }, { payload: { a: 1 }, headers: many }];
    for (const [path, body] of [
      ['/v1/queue/publish', { queue: 'jobs', payload: many }],
      ['/v1/queue/publish', { queue: 'jobs', body: many }],
      ['/v1/queue/batch/publish', { queue: 'jobs', items }],
      ['/v1/errors/capture', { message: 'x', extra: many }],
      [
        '/v1/vector/upsert',
        {
          collection: 'docs',
          vectors: Array.from({ length: 1_000 }, (_, i) => ({ id: `v${i}`, embedding: [1, i], metadata: names(20) })),
        },
      ],
    ] as const) {
      const reply = await call('POST', path, body);
      expect([path, reply.status, reply.body.metadata.warnings]).toEqual([path, 200, undefined]);
    }
  });
});

describe('unknown fields', () => {
  const ignoring = { 'x-qm-unknown-fields': 'warn' };
  const warningsOf = async (path: string, body: unknown) =>
    (await call('POST', path, body, ignoring)).body.metadata.warnings;

  test('that are ignored are named up to 20, the others counted up to 2,000', async () => {
    const path = '/v1/queue/publish';
    const base = { queue: 'jobs', payload: {} };
    expect(await warningsOf(path, { ...base, ...names(20) })).toHaveLength(20);
    const some = await warningsOf(path, { ...base, ...names(21) });
    expect(some).toHaveLength(21);
    expect(some.slice(-2)).toEqual(['n19: unknown field, ignored', 'and 1 more unknown fields, ignored']);
    expect((await warningsOf(path, { ...base, ...names(2_000) })).at(-1)).toBe('and 1980 more unknown fields, ignored');
    const many = await warningsOf(path, { ...base, ...names(9_000) });
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toBe('and more unknown fields, ignored: only 2000 are looked at');
  });

  test('within lists are bounded together', async () => {
    const items = Array.from({ length: 100 }, () => ({ payload: {}, ...names(50) }));
    const warnings = await warningsOf('/v1/queue/batch/publish', { queue: 'jobs', items });
    expect(warnings[0]).toBe('items[0].n0: unknown field, ignored');
    expect(warnings.at(-1)).toBe('and more unknown fields, ignored: only 2000 are looked at');
  });

  test('are refused, the first 20 by name', async () => {
    for (const [path, body, param] of [
      ['/v1/account/keys/create', { name: 'k', ...names(3_000) }, 'n0'],
      ['/v1/queue/publish', { queue: 'jobs', payload: {}, ...names(9_000) }, 'n0'],
      ['/v1/queue/batch/publish', { queue: 'jobs', items: [{ payload: {}, ...names(9_000) }] }, 'items[0].n0'],
    ] as const) {
      const { error } = (await call('POST', path, body)).body;
      expect(error).toMatchObject({ code: 'VALIDATION_FAILED', code_detail: 'unknown_field', param });
      expect(error.errors).toHaveLength(20);
    }
  });
});

test('query parameters of a call that takes none are named up to 20, the others counted', async () => {
  const query = (count: number) => new URLSearchParams(Object.keys(names(count)).join('&'));
  const warningsOf = async (count: number) =>
    (await call('POST', `/v1/queue/ack?${query(count)}`, { queue: 'jobs', receipt_handle: 'r' })).body.metadata
      .warnings;
  expect(await warningsOf(20)).toHaveLength(20);
  const many = await warningsOf(2_000);
  expect(many).toHaveLength(21);
  expect(many.slice(-2)).toEqual([
    'n19: ignored, query parameters are not used by POST calls',
    'and 1980 more query parameters, ignored',
  ]);
});
