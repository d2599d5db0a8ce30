// Pages tell by name what was changed, and by whom.
import { expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { client, createTestAccount } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

test('in the audit log, changes of keys, webhooks and webhook receivers are told by name', async () => {
  const service = await sharedService();
  const { secret } = await createTestAccount(service.core, 5);
  const call = client(service.url, secret);
  const made = async (path: string, body: object) => {
    const { status, body: answer } = await call('POST', path, body);
    expect(status, JSON.stringify(answer)).toBe(200);
    return answer.data;
  };
  await made('/v1/queue/create', { name: 'jobs' });
  const { key_id: keyId } = await made('/v1/account/keys/create', { name: 'shop-api' });
  const hook = { url: 'https://example.org/hook', events: ['queue.dlq'] };
  const { webhook_id: webhookId } = await made('/v1/account/webhooks/register', hook);
  const receiver = { name: 'github', verify: { scheme: 'github' }, to: { queue: 'jobs' } };
  const { receiver_id: receiverId } = await made('/v1/account/webhooks/receive/create', receiver);
  await call('PATCH', `/v1/account/keys/update/${keyId}`, { spend_cap_usd: 5 });
  await call('PATCH', `/v1/account/webhooks/update/${webhookId}`, { description: 'orders' });
  await call('PATCH', `/v1/account/webhooks/receive/update/${receiverId}`, { description: 'pushes' });
  const { text } = await (await signedIn(service.url, secret)).get('/console/audit');
  const changes = [...text.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, change = '']) =>
    change.replaceAll(/<[^>]+>/g, ''),
  );
  expect(changes.slice(0, 3)).toEqual([
    'Changed webhook receiver github: description',
    'Changed webhook https://example.org/hook: description',
    'Changed key shop-api: spend cap',
  ]);
});

test('on the page of an error, the key that commented and resolved', async () => {
  const service = await sharedService();
  const { secret } = await createTestAccount(service.core, 5);
  const { body } = await client(service.url, secret)('POST', '/v1/account/keys/create', { name: 'price-agent' });
  const call = client(service.url, body.data.key_secret);
  const { error_group_id: id } = (await call('POST', '/v1/errors/capture', { title: 'disk full' })).body.data;
  expect((await call('POST', `/v1/errors/comment/${id}`, { text: 'On it.' })).status).toBe(200);
  expect((await call('POST', `/v1/errors/resolve/${id}`, {})).status).toBe(200);
  const { text } = await (await signedIn(service.url, secret)).get(`/console/errors/${id}`);
  expect(text.match(/ by <bdi>price-agent<\/bdi>/g)).toHaveLength(3);
});
