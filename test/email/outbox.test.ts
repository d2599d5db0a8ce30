// With nothing configured mail is rehearsed: kept whole, signed and charged as if it had left. And how much may be ordered in a minute.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SigningKeys } from '../../src/modules/email/domains/signing-key.ts';
import { EmailBench, NANOS } from './harness.ts';

let bench: EmailBench;
beforeAll(async () => {
  bench = await EmailBench.start({ relay: false });
});
afterAll(() => bench.stop());

test('the mail is there to be looked at, signed with the key of the account, and a warning says that nothing left', async () => {
  const before = await bench.balance();
  const { body } = await bench.send({
    from: 'a@agents.test',
    to: ['ada@example.net', 'bob@example.net'],
    html: '<p>Hi</p>',
  });
  expect(body.metadata.warnings).toEqual([expect.stringContaining('Nothing left the service')]);
  expect(body.data).toMatchObject({ status: 'delivered', vendor: 'outbox', captured: true });
  expect(before - (await bench.balance())).toBe(2n * NANOS);
  const { body: raw } = await bench.call('GET', `/v1/email/raw/${body.data.email_id}`);
  const { selector, publicKey } = await new SigningKeys(bench.service.core).of(bench.account.accountId);
  const asked: string[] = [];
  const resolver = async (name: string) => {
    asked.push(name);
    return [[`v=DKIM1; k=rsa; p=${publicKey}`]];
  };
  const { results } = await dkimVerify(raw.data.content, { resolver });
  expect(results.map(({ status }) => status.result)).toEqual(['pass']);
  expect(asked).toEqual([`${selector}._domainkey.agents.test`]);
});

test('a reserved name sends nowhere else', async () => {
  const withRelay = await EmailBench.start();
  try {
    const { status, body } = await withRelay.send({ from: 'a@agents.test' });
    expect([status, body.error.code]).toEqual([403, 'DOMAIN_NOT_VERIFIED']);
    expect((await withRelay.sent({ from: 'a@agents.test', vendor: 'outbox' })).captured).toBe(true);
    expect(withRelay.relay?.mails).toEqual([]);
  } finally {
    await withRelay.stop();
  }
});

test('a mail of megabytes is kept, and its source is answered by a link', async () => {
  const content = Buffer.alloc(3_000_000, 'attached ').toString('base64');
  const attachments = [{ filename: 'a.bin', content_base64: content }];
  const { email_id: id } = await bench.sent({ from: 'a@agents.test', attachments });
  const { body } = await bench.call('GET', `/v1/email/raw/${id}`);
  expect(body.data.content).toBeNull();
  const source = await (await fetch(body.data.url)).text();
  expect(source.length).toBe(body.data.bytes);
  expect(source.replaceAll('\r\n', '')).toContain(content.slice(0, 100_000));
});

test.each(['content_base64', 'content'])('an attachment whose %s is no base64 is refused', async (name) => {
  const attachments = [{ filename: 'a.bin', [name]: '***' }];
  const { status, body } = await bench.send({ from: 'a@agents.test', attachments });
  expect([status, body.error.param]).toEqual([400, 'attachments[0].content_base64']);
});

test('recipients beyond those of a minute are refused with the time to wait, and count again in the next', async () => {
  const limited = await EmailBench.start({ relay: false, env: { RATE_LIMITS: 'on' } });
  try {
    const to = Array.from({ length: 50 }, (_, n) => `a${n}@example.net`);
    const items = Array.from({ length: 12 }, () => ({ from: 'a@agents.test', to, subject: 'S', text: 'T' }));
    // All of one minute.
    const { body: first } = await limited.call('POST', '/v1/email/batch/send', { items, wait: false });
    const beganMs = Date.parse(first.data.items[0].created_at);
    const { status, body } = await limited.send({ from: 'a@agents.test' });
    const isSameMinute = Math.floor(beganMs / 60_000) === Math.floor(Date.now() / 60_000);
    if (isSameMinute) {
      expect([status, body.error.code, body.error.code_detail]).toEqual([429, 'RATE_LIMITED', 'recipients']);
      expect(body.error.retry_after_ms).toBeLessThanOrEqual(60_000);
    }
    await limited.service.advance(60);
    expect((await limited.send({ from: 'a@agents.test' })).status).toBe(200);
  } finally {
    await limited.stop();
  }
});

test('the books agree', () => bench.expectBooksAgree());
