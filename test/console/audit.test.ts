// The audit log tells acts by the names of what they were done to.
import { expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { client, createTestAccount } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

test('changes of keys, webhooks and webhook receivers are told by name', async () => {
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
