// What a mail for later needs when its time comes: that its account may still send, and from this domain.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import type { Database } from '../../src/db/database.ts';
import { recordOf } from '../../src/modules/email/sending/order.ts';
import { EmailBench } from './harness.ts';

let bench: EmailBench;
let before: bigint;
beforeAll(async () => {
  bench = await EmailBench.start();
  before = await bench.balance();
});
afterAll(() => bench.stop());

const inAnHour = async () =>
  new Date(Date.parse((await bench.sent({ vendor: 'outbox' })).created_at) + 3_600_000).toISOString();
const suspended = (value: boolean) =>
  bench.service.core.db.transaction((tx) => setSuspended(tx, bench.account.accountId, value));
const statusOf = async (emailId: string) => {
  const text = `SELECT m.status FROM email.message m WHERE m.account_id = $1 AND m.email_id = $2`;
  const { rows } = await bench.service.core.db.query<{ status: string }>({ name: 'test_mail_status', text }, [
    bench.account.accountId,
    emailId,
  ]);
  return rows[0]?.status;
};

test('mail of an account that was suspended since is cancelled, and given back', async () => {
  const { email_id: id } = await bench.sent({ send_at: await inAnHour() });
  before = await bench.balance();
  await suspended(true);
  await bench.service.advance(7_200);
  await expect.poll(() => statusOf(id)).toBe('cancelled');
  await suspended(false);
  expect(bench.relay?.mails).toEqual([]);
  expect((await bench.balance()) - before).toBe(460_000n);
});

test('mail from a domain that the account has proved no more has failed', async () => {
  const { db } = bench.service.core;
  const domain = 'proved.example.net';
  const values = [bench.account.accountId, domain];
  await db.query(
    {
      name: 'test_domain_proved',
      text: `INSERT INTO email.domain (account_id, domain, status, records, created_at) VALUES ($1, $2, 'verified', '[]', core.clock_now())`,
    },
    values,
  );
  const { email_id: id } = await bench.sent({ from: `a@${domain}`, send_at: await inAnHour() });
  expect((await bench.call('DELETE', `/v1/email/domain/delete/${domain}`)).status).toBe(200);
  await bench.service.advance(7_200);
  await expect.poll(() => statusOf(id)).toBe('failed');
  expect(bench.relay?.mails).toEqual([]);
  await bench.expectBooksAgree();
});

test('long mails are sent a few at a time, and all of them', async () => {
  const attachments = [{ filename: 'a.bin', content_base64: Buffer.alloc(2_000_000, 'x').toString('base64') }];
  const sent = await Promise.all(Array.from({ length: 10 }, () => bench.sent({ attachments, text: 'long' })));
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 'sent'));
  expect(bench.relay?.mails).toHaveLength(10);
});

test('a mail that is sent while it is read has recipients that are sent', async () => {
  const { core } = bench.service;
  const { email_id: id } = await bench.sent({ send_at: await inAnHour() });
  // Whatever is asked for the mail itself is asked once it has been sent; all else at once.
  const query: Database['query'] = async (statement, values) => {
    if (statement.name === 'email_select_message') {
      await bench.service.advance(7_200);
      await expect.poll(() => statusOf(id)).toBe('sent');
    }
    return core.db.query(statement, values);
  };
  const slow = { core: { ...core, db: Object.create(core.db, { query: { value: query } }) } };
  expect(await recordOf(slow, bench.account.accountId, id)).toMatchObject({
    status: 'sent',
    recipients: [{ status: 'sent' }],
  });
});
