// Registrations over HTTP: what register, list, get, update and delete take, answer and refuse.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifest } from '../support/capabilities.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { failure, WebhookCaller } from './api-harness.ts';

const URL = 'https://example.org/hooks';
const UNKNOWN = 'wh_1111111111111111111111';
let service: TestService;
let own: WebhookCaller;

beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
  own = await WebhookCaller.of(service);
});
afterAll(() => service.stop());

describe('register', () => {
  test('answers the whole record, with the secret and what was left out', async () => {
    const made = await own.register(URL);
    expect(made).toEqual({
      webhook_id: expect.stringMatching(/^wh_[0-9A-Za-z]{20,}$/),
      url: URL,
      events: ['queue.dlq'],
      description: null,
      retry_policy: 'default',
      timeout_seconds: 15,
      headers: {},
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      failed_attempts: 0,
      failing_since: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      secret_last4: made.secret.slice(-4),
      created_at: expect.any(String),
      updated_at: made.created_at,
    });
  });

  test('every type of the catalogue can be subscribed to; one named twice counts once', async () => {
    const all = manifest.events.map(({ type }) => type);
    const { events } = await own.register(URL, { events: [...all, 'queue.dlq', 'account.created'] });
    expect(events).toEqual(all);
  });

  test('a planned type is taken with a warning that names it', async () => {
    const body = { url: URL, events: ['queue.dlq', 'system.maintenance.scheduled'] };
    const reply = await own.call('POST', '/v1/account/webhooks/register', body);
    const warning = 'events: system.maintenance.scheduled: planned, and not sent by this service yet.';
    expect([reply.status, reply.body.metadata.warnings]).toEqual([200, expect.arrayContaining([warning])]);
  });

  test('an unknown type is named, with what is near', async () => {
    const sent = ['queue.dlq', 'queue.dlqq', 'nothing at all'];
    for (const [events, at, said] of [
      [sent, 1, '"queue.dlqq" is no event type. Did you mean queue.dlq?'],
      [[sent[2]], 0, '"nothing at all" is no event type. GET /docs/events lists them.'],
    ] as const) {
      const { body } = await own.call('POST', '/v1/account/webhooks/register', { url: URL, events });
      expect(body.error).toMatchObject({ code: 'UNKNOWN_EVENT_TYPE', param: `events[${at}]`, message: said });
    }
    const listed = await own.call('GET', '/v1/account/events/list?type=queue.dlqq');
    expect(listed.body.error.message).toContain('Did you mean queue.dlq?');
  });

  test('null stands for the default of every optional field', async () => {
    const made = await own.register(URL, { description: null, secret: null, retry_policy: null, headers: null });
    expect(made).toMatchObject({ description: null, retry_policy: 'default', headers: {} });
    expect(made.secret).toMatch(/^whsec_/);
  });

  test('a host that does not resolve is taken with a warning', async () => {
    const body = { url: 'https://no-such-host.invalid/hooks', events: ['queue.dlq'] };
    const reply = await own.call('POST', '/v1/account/webhooks/register', body);
    expect([reply.status, reply.body.metadata.warnings]).toEqual([200, [expect.stringContaining('resolve')]]);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['no url', { url: undefined }, 'VALIDATION_FAILED', 'url'],
    ['no events', { events: undefined }, 'VALIDATION_FAILED', 'events'],
    ['an empty list of events', { events: [] }, 'VALIDATION_FAILED', 'events'],
    ['an unknown event', { events: ['queue.dlq', 'queue.DLQ'] }, 'UNKNOWN_EVENT_TYPE', 'events[1]'],
    ['a wildcard', { events: ['*'] }, 'UNKNOWN_EVENT_TYPE', 'events[0]'],
    ['257 characters of description', { description: 'd'.repeat(257) }, 'VALIDATION_FAILED', 'description'],
    ['NUL in the description', { description: 'a\0b' }, 'VALIDATION_FAILED', 'description'],
    ['more than a quarter of an hour', { timeout_seconds: 901 }, 'VALIDATION_FAILED', 'timeout_seconds'],
    ['another retry policy', { retry_policy: 'never' }, 'VALIDATION_FAILED', 'retry_policy'],
    ['a short secret', { secret: 'whsec_c2hvcnQ=' }, 'VALIDATION_FAILED', 'secret'],
    ['a secret of 65 bytes', { secret: 's'.repeat(65) }, 'VALIDATION_FAILED', 'secret'],
    ['an unknown field', { enabled: true }, 'VALIDATION_FAILED', 'enabled'],
    ['a header that is no text', { headers: { 'X-A': 7 } }, 'VALIDATION_FAILED', 'headers.X-A'],
  ])('%s is refused', async (_what, fields, code, param) => {
    const body = { url: URL, events: ['queue.dlq'], ...fields };
    expect(await own.fails('POST', '/v1/account/webhooks/register', body)).toEqual([400, code, param]);
  });

  test('256 characters of description are taken as they are', async () => {
    const description = `é😀\n${'d'.repeat(253)}`;
    expect((await own.register(URL, { description })).description).toBe(description);
  });

  test('the 21st webhook of a standard account is one too many, until another is deleted', async () => {
    const full = await WebhookCaller.of(service);
    const made = [];
    for (let i = 0; i < 20; i += 1) made.push(await full.register(URL));
    const body = { url: URL, events: ['queue.dlq'] };
    expect(await full.fails('POST', '/v1/account/webhooks/register', body)).toEqual([409, 'QUOTA_EXCEEDED', undefined]);
    await full.update(made[0].webhook_id, { status: 'disabled' });
    expect((await full.fails('POST', '/v1/account/webhooks/register', body))[1]).toBe('QUOTA_EXCEEDED');
    await full.delete(made[0].webhook_id);
    await full.register(URL);
  });

  test('ten at once do not get past the quota', async () => {
    const full = await WebhookCaller.of(service);
    for (let i = 0; i < 15; i += 1) await full.register(URL);
    const body = { url: URL, events: ['queue.dlq'] };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => full.call('POST', '/v1/account/webhooks/register', body)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  });
});

describe('list and get', () => {
  test('pages go from the newest to the oldest and show no secret', async () => {
    const caller = await WebhookCaller.of(service);
    const made = [];
    for (let i = 0; i < 5; i += 1) made.push(await caller.register(URL, { description: String(i) }));
    const seen: string[] = [];
    let cursor = '';
    do {
      const { items, next_cursor, has_more } = await caller.ok('GET', `/v1/account/webhooks/list?limit=2${cursor}`);
      expect(has_more).toBe(next_cursor !== null);
      for (const item of items) {
        expect(item).not.toHaveProperty('secret');
        seen.push(item.description);
      }
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(['4', '3', '2', '1', '0']);
    const { secret: _shownOnce, ...record } = made[2];
    expect(await caller.get(record.webhook_id)).toEqual(record);
  });

  test.each(['GET', 'PATCH', 'POST'] as const)('%s: an unknown webhook is 404', async (method) => {
    const operation = { GET: 'get', PATCH: 'update', POST: 'test' }[method];
    const body = method === 'GET' ? undefined : {};
    expect(await own.fails(method, `/v1/account/webhooks/${operation}/${UNKNOWN}`, body)).toEqual([
      404,
      'WEBHOOK_NOT_FOUND',
      'webhook_id',
    ]);
  });
});

describe('update', () => {
  test('absent fields stay, null clears, and updated_at moves', async () => {
    const made = await own.register(URL, {
      description: 'before',
      retry_policy: 'aggressive',
      headers: { 'X-A': 'abc' },
    });
    await service.advance(60);
    const first = await own.update(made.webhook_id, { events: ['wallet.expired', 'wallet.expired'] });
    expect(first).toMatchObject({
      url: URL,
      description: 'before',
      retry_policy: 'aggressive',
      events: ['wallet.expired'],
    });
    expect(first.headers).toEqual(made.headers);
    expect(first).not.toHaveProperty('secret');
    expect(Date.parse(first.updated_at) - Date.parse(made.updated_at)).toBeGreaterThanOrEqual(60_000);
    const cleared = await own.update(made.webhook_id, { description: null, retry_policy: null, headers: null });
    expect(cleared).toMatchObject({
      description: null,
      retry_policy: 'default',
      headers: {},
      events: ['wallet.expired'],
    });
    expect(await own.get(made.webhook_id)).toEqual(cleared);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['url null', { url: null }, 'VALIDATION_FAILED', 'url'],
    ['a private url', { url: 'https://10.0.0.1/' }, 'WEBHOOK_URL_REJECTED', 'url'],
    ['events null', { events: null }, 'VALIDATION_FAILED', 'events'],
    ['no events', { events: [] }, 'VALIDATION_FAILED', 'events'],
    ['an unknown event', { events: ['nothing'] }, 'UNKNOWN_EVENT_TYPE', 'events[0]'],
    ['a reserved header', { headers: { 'webhook-id': 'x' } }, 'WEBHOOK_HEADER_REJECTED', 'headers.webhook-id'],
    ['status null', { status: null }, 'VALIDATION_FAILED', 'status'],
    ['another status', { status: 'paused' }, 'VALIDATION_FAILED', 'status'],
    ['an unknown field', { secret_last4: 'abcd' }, 'VALIDATION_FAILED', 'secret_last4'],
  ])('%s is refused and nothing changes', async (_what, fields, code, param) => {
    const { webhook_id: id } = await own.register(URL);
    const before = await own.get(id);
    expect(await own.fails('PATCH', `/v1/account/webhooks/update/${id}`, fields)).toEqual([400, code, param]);
    expect(await own.get(id)).toEqual(before);
  });

  test('disabled and enabled again', async () => {
    const { webhook_id: id } = await own.register(URL);
    const off = await own.update(id, { status: 'disabled' });
    expect(off).toMatchObject({ status: 'disabled', disabled_reason: 'requested', disabled_at: expect.any(String) });
    await service.advance(60);
    expect((await own.update(id, { status: 'disabled' })).disabled_at).toBe(off.disabled_at);
    expect(await own.update(id, { status: 'enabled' })).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ['enabling', { status: 'enabled' }],
    ['another url', { url: 'https://example.org/other' }],
  ])('%s forgets the failures so far', async (_what, fields) => {
    const { webhook_id: id } = await own.register(URL);
    await service.core.db.query(
      {
        name: 'test_fail_webhook',
        text: `UPDATE core.webhook SET failed_attempts = 9, failing_since = now() WHERE account_id = $1 AND webhook_id = $2`,
      },
      [own.accountId, id],
    );
    const failures = async () => {
      const text = 'SELECT failed_attempts, failing_since FROM core.webhook WHERE account_id = $1 AND webhook_id = $2';
      return (await service.core.db.query({ name: 'test_failures', text }, [own.accountId, id])).rows[0];
    };
    await own.update(id, { description: 'other', url: URL });
    expect(await failures()).toMatchObject({ failed_attempts: 9 });
    await own.update(id, fields);
    expect(await failures()).toEqual({ failed_attempts: 0, failing_since: null });
  });
});

describe('delete', () => {
  test('once true, then false, and an unknown id answers the same', async () => {
    const { webhook_id: id } = await own.register(URL);
    expect(await own.delete(id)).toEqual({ webhook_id: id, deleted: true, status: null });
    expect(await own.delete(id)).toEqual({ webhook_id: id, deleted: false, status: 'not_found' });
    expect(await own.delete(UNKNOWN)).toEqual({ webhook_id: UNKNOWN, deleted: false, status: 'not_found' });
    expect(await own.fails('GET', `/v1/account/webhooks/get/${id}`)).toEqual([404, 'WEBHOOK_NOT_FOUND', 'webhook_id']);
  });
});

describe('scopes', () => {
  test('a reading key reads and writes nothing', async () => {
    const { webhook_id: id } = await own.register(URL);
    const { secret } = await createTestAccount(service.core, 1, ['account:read']);
    const call = client(service.url, secret);
    expect((await call('GET', '/v1/account/webhooks/list')).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', 'register', { url: URL, events: ['queue.dlq'] }],
      ['PATCH', `update/${id}`, {}],
      ['DELETE', `delete/${id}`, undefined],
      ['POST', `test/${id}`, {}],
      ['POST', 'redeliver/whd_1111111111111111111111', {}],
    ] as const) {
      const reply = await call(method, `/v1/account/webhooks/${path}`, body);
      expect(failure(reply).slice(0, 2), path).toEqual([403, 'INSUFFICIENT_SCOPE']);
    }
  });
});
