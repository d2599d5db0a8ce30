// Whoever owns an account is mailed once a window that spending crossed the alert threshold of its budget, unless they want no mail.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listMails } from '../../src/people/mail/mail.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
});
afterAll(() => service?.stop());

async function spender(wantsMail: boolean) {
  const { accountId, secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  await call('PATCH', '/v1/account/update', { notifications: { email: wantsMail } });
  await call('PUT', '/v1/account/budget/set', { period: 'daily', alert_threshold_usd: 0.00003 });
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const publish = async () => {
    expect((await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} })).status).toBe(200);
  };
  const mails = async () =>
    (await listMails(service.core.db, { limit: 100 })).filter(({ text }) => text.includes(accountId));
  const told = async () => {
    const { body } = await call('GET', '/v1/account/events/list');
    return body.data.items.filter(({ data }: { data: { reason?: string } }) => data.reason === 'budget_alert').length;
  };
  return { publish, mails, told };
}

test('one mail a window, to the bound address', async () => {
  const { publish, mails, told } = await spender(true);
  for (let n = 0; n < 5; n += 1) await publish();
  await expect.poll(mails).toHaveLength(1);
  expect((await mails())[0]).toMatchObject({
    to: expect.stringContaining('@example.org'),
    subject: 'Spending reached 0.00003 USD',
  });
  const [first] = await mails();
  await service.advance(86_400);
  for (let n = 0; n < 5; n += 1) await publish();
  await expect.poll(told).toBe(2);
  // The first one may have left the outbox by now.
  expect((await mails()).filter(({ mail_id: id }) => id !== first?.mail_id)).toHaveLength(1);
});

test('none to who wants none, though the event is told', async () => {
  const { publish, mails, told } = await spender(false);
  for (let n = 0; n < 3; n += 1) await publish();
  await expect.poll(told).toBe(1);
  expect(await mails()).toEqual([]);
});
