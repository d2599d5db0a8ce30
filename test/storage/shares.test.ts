// Links by which people without a key download objects.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageBench } from './harness.ts';

let bench: StorageBench;
beforeAll(async () => {
  bench = await StorageBench.start();
});
afterAll(() => bench.stop());

describe('a share', () => {
  const make = async (fields: object) => {
    const account = await bench.withAccount();
    await account.data('POST', '/v1/storage/object/put', {
      bucket: 'work',
      key: 'dir/page.html',
      content: '<h1>Hi</h1>',
      content_type: 'text/html',
    });
    const share = await account.data('POST', '/v1/storage/share/create', {
      bucket: 'work',
      key: 'dir/page.html',
      ...fields,
    });
    return { account, share };
  };

  test('lets anybody download, as a file that no browser runs, at the price of a read', async () => {
    const { account, share } = await make({});
    const before = await bench.balance(account.accountId);
    const reply = await fetch(share.url);
    expect(await reply.text()).toBe('<h1>Hi</h1>');
    expect(reply.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''page.html");
    expect(reply.headers.get('content-security-policy')).toContain('sandbox');
    expect(before - (await bench.balance(account.accountId))).toBe(400n);
  });

  test('ends by the number of its downloads, also when they come at once, and parts do not get around it', async () => {
    const { account, share } = await make({ downloads_max: 2 });
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => fetch(share.url, { headers: { range: 'bytes=1-' } })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403, 403]);
    const { items } = await account.data('GET', '/v1/storage/share/list');
    expect(items[0]).toMatchObject({ share_id: share.share_id, downloads: 2 });
  });

  test('ends by time, when it is revoked, and with any character of it', async () => {
    const { account, share } = await make({ expires_seconds: 60 });
    const other = share.url.endsWith('A') ? 'B' : 'A';
    expect((await fetch(`${share.url.slice(0, -1)}${other}`)).status).toBe(403);
    await bench.test.advance(61);
    expect((await fetch(share.url)).status).toBe(403);
    const second = await account.data('POST', '/v1/storage/share/create', { bucket: 'work', key: 'dir/page.html' });
    await account.data('DELETE', `/v1/storage/share/revoke/${second.share_id}`);
    expect((await fetch(second.url)).status).toBe(403);
  });

  test('of an account without credit is 402 and counts nothing', async () => {
    const { account, share } = await make({ downloads_max: 1 });
    await bench.drain(account.accountId);
    expect((await fetch(share.url)).status).toBe(402);
    await bench.credit(account.accountId, 1);
    expect((await fetch(share.url)).status).toBe(200);
  });
});
