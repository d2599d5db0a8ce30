// The export of an account: complete, page by page, of this account only, without secrets.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('every record of the account comes once, whatever the size of the pages, and no secret with it', async () => {
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  const made = [secret];
  for (let n = 0; n < 5; n += 1) {
    made.push((await call('POST', '/v1/account/keys/create', { name: `key ${n}` })).body.data.key_secret);
    await call('POST', '/v1/account/topup', { amount_usd: 5 + n });
  }
  const hook = { url: 'https://example.org/hooks', events: ['wallet.expired'] };
  made.push((await call('POST', '/v1/account/webhooks/register', hook)).body.data.secret);
  const read = async (limit: number) => {
    const items: { kind: string; record: Record<string, unknown> }[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null && page < 200; page += 1) {
      const from = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await call('GET', `/v1/account/export?limit=${limit}${from}`);
      expect(status).toBe(200);
      items.push(...body.data.items);
      cursor = body.data.next_cursor;
      expect(body.data.has_more).toBe(cursor !== null);
    }
    return items;
  };
  const [small, large] = [await read(2), await read(100)];
  const kinds = (items: typeof small) => items.map(({ kind }) => kind);
  expect(kinds(small)).toEqual(kinds(large));
  const count = Object.groupBy(large, ({ kind }) => kind);
  expect(count.key).toHaveLength(6);
  expect(count.topup).toHaveLength(5);
  expect(count.webhook).toHaveLength(1);
  expect(count.account?.[0]?.record).toMatchObject({ email_bound: true });
  expect(new Set(kinds(large)).size).toBeGreaterThanOrEqual(10);
  const text = JSON.stringify(large);
  for (const one of made) expect(text).not.toContain(one);
});

test.each(['nothing', 'key.made-up', 'account.x', 'key.'])('the cursor %j is refused', async (cursor) => {
  const { secret } = await createTestAccount(service.core);
  const { status, body } = await client(service.url, secret)('GET', `/v1/account/export?cursor=${cursor}`);
  expect([status, body.error.code]).toEqual([400, 'INVALID_CURSOR']);
});
