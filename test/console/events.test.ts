// The page of events: what happened in words, day by day, those that say the same in one line.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('messages that moved to a dead-letter queue in a row are one line; an event of another queue stands between', async () => {
  const { secret } = await createTestAccount(service.core, 5);
  const call = client(service.url, secret);
  const deadLetter = async (queue: string, messages: number) => {
    await call('POST', '/v1/queue/create', { name: queue, dead_letter_queue: 'dead', max_retries: 1 });
    for (let n = 0; n < messages; n += 1) await call('POST', '/v1/queue/publish', { queue, payload: { n } });
    const { items } = (await call('POST', '/v1/queue/consume', { queue, max_messages: 10 })).body.data;
    for (const { message_id, receipt_handle } of items)
      expect((await call('POST', '/v1/queue/nack', { queue, message_id, receipt_handle })).status).toBe(200);
  };
  await call('POST', '/v1/queue/create', { name: 'dead' });
  await deadLetter('jobs', 3);
  await deadLetter('mails', 1);
  const { text } = await (await signedIn(service.url, secret)).get('/console/events');
  const lines = [...text.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, line = '']) =>
    line.replaceAll(/<[^>]+>/g, ''),
  );
  expect(lines.slice(0, 3)).toEqual([
    'Queue mails: message moved to dead-letter queue dead after 1 delivery',
    'Queue jobs: 3 messages moved to dead-letter queue dead',
    'Account created',
  ]);
  expect(text).toContain('href="/console/queues/jobs/dlq"');
  expect(text.match(/scope="rowgroup"/g)).toHaveLength(1);
});
