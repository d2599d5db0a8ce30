// Mail leaves by a real mail server, again while that has no time, or stands in the outbox for a day.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { listMails, sendMail } from '../../src/people/mail/mail.ts';
import { mailRetention, mailSending } from '../../src/people/mail/send.ts';
import { type Mailbox, startMailbox } from '../support/mailbox.ts';
import { startTestService, type TestService } from '../support/service.ts';

let mailbox: Mailbox;
let sending: TestService;

beforeAll(async () => {
  mailbox = await startMailbox();
  sending = await startTestService({ env: { SMTP_URL: mailbox.url, MAIL_FROM: 'Post <post@qm.example>' } });
});

afterAll(async () => {
  await sending?.stop();
  await mailbox?.stop();
});

async function write({ core }: TestService, to: string, subject = 'Greetings'): Promise<void> {
  await core.db.transaction(async (tx) =>
    sendMail(tx, { to, subject, text: 'Plain: grüße', html: '<p>Marked</p>' }, await clockNow(tx)),
  );
}

test('mail of a commit is sent at once, in both forms, and is gone here', async () => {
  await write(sending, 'ada@example.org');
  await vi.waitFor(() => expect(mailbox.mails.length).toBe(1), 50_000);
  const [mail] = mailbox.mails;
  expect(mail).toMatchObject({ to: ['ada@example.org'], from: 'post@qm.example', text: 'Plain: grüße' });
  expect(mail?.source).toMatch(/^Subject: Greetings\r$/m);
  expect(mail?.source).toContain('<p>Marked</p>');
  await vi.waitFor(async () => expect(await listMails(sending.core.db, { limit: 10 })).toEqual([]), 50_000);
});

test('mail of a transaction that fails is never sent', async () => {
  const failing = sending.core.db.transaction(async (tx) => {
    await sendMail(tx, { to: 'never@example.org', subject: 'x', text: 'x', html: 'x' }, await clockNow(tx));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await write(sending, 'after@example.org');
  await vi.waitFor(() => expect(mailbox.mails.at(-1)?.to).toEqual(['after@example.org']), 50_000);
  expect(mailbox.mails.flatMap(({ to }) => to)).not.toContain('never@example.org');
});

test('a server that has no time is asked again later, one that refuses is not', async () => {
  mailbox.faults.push(451);
  await write(sending, 'later@example.org');
  await vi.waitFor(() => expect(mailbox.faults).toEqual([]), 50_000);
  await vi.waitFor(async () => {
    await sending.advance(10);
    expect(mailbox.mails.at(-1)?.to).toEqual(['later@example.org']);
  }, 50_000);
  mailbox.faults.push(550);
  await write(sending, 'refused@example.org');
  await vi.waitFor(() => expect(mailbox.faults).toEqual([]), 50_000);
  await sending.advance(3_600);
  await write(sending, 'last@example.org');
  await vi.waitFor(() => expect(mailbox.mails.at(-1)?.to).toEqual(['last@example.org']), 50_000);
  expect(mailbox.mails.flatMap(({ to }) => to)).not.toContain('refused@example.org');
});

test('two processes send a mail once', async () => {
  const { core } = sending;
  const second = mailSending(core, 50);
  second.start();
  const before = mailbox.mails.length;
  for (let i = 0; i < 20; i += 1) await write(sending, `n${i}@example.org`);
  await vi.waitFor(() => expect(mailbox.mails.length).toBeGreaterThanOrEqual(before + 20), 50_000);
  await second.stop();
  expect(mailbox.mails.length).toBe(before + 20);
});

test('without a server it stands in the outbox, the newest first, for a day; the log shows it on this machine', async () => {
  const lines: string[] = [];
  const outbox = await startTestService({ log: pino({}, { write: (line: string) => void lines.push(line) }) });
  try {
    await write(outbox, 'first@example.org', 'First');
    await outbox.advance(60);
    await write(outbox, 'second@example.org', 'Second');
    const [newest, older] = await listMails(outbox.core.db, { limit: 10 });
    expect([newest?.subject, older?.subject]).toEqual(['Second', 'First']);
    expect(newest).toMatchObject({ to: 'second@example.org', text: 'Plain: grüße', html: '<p>Marked</p>' });
    expect(await listMails(outbox.core.db, { limit: 10, beforeId: newest?.mail_id ?? '' })).toEqual([older]);
    await vi.waitFor(() => expect(lines.filter((line) => line.includes('Plain: gr')).length).toBe(2), 50_000);
    await outbox.advance(86_400);
    await mailRetention(outbox.core.db).run(new AbortController().signal);
    expect(await listMails(outbox.core.db, { limit: 10 })).toEqual([]);
  } finally {
    await outbox.stop();
  }
});
