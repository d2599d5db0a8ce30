// What comes back: reports to the mail's own address change it, forged ones change nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmailBench } from './harness.ts';

const BOUNCES = 'bounces.sender.example.org';
let bench: EmailBench;
beforeAll(async () => {
  bench = await EmailBench.start({ env: { EMAIL_BOUNCE_DOMAIN: BOUNCES } });
});
afterAll(() => bench.stop());

/** A mail that the relay took, and where its bounces go. */
async function sent(to: string | string[]) {
  const email = await bench.sent({ to });
  return { id: email.email_id as string, address: bench.relay?.mails.at(-1)?.from as string };
}

function report(recipient: string, action: string, status: string): string {
  return [
    'From: mailer-daemon@mx.example.net',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${action} ${status}`,
    '',
    '--b--',
    '',
  ].join('\r\n');
}

async function comesBack(address: string, source: string) {
  const reply = await fetch(`${bench.service.url}/v1/email/inbound?${new URLSearchParams({ from: '', to: address })}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'message/rfc822' },
    body: source,
  });
  return { status: reply.status, body: await reply.json() };
}

const statuses = async (id: string) => (await bench.get(id)).recipients.map(({ status }: { status: string }) => status);
const types = async () => (await bench.events()).map(({ type }) => type);

test('the address of a mail is 64 characters at most before its @, and no mail has that of another', async () => {
  const [one, two] = [await sent('ada@example.net'), await sent('ada@example.net')];
  expect(one.address).toMatch(/^b\+[a-z2-7]{55}@bounces\.sender\.example\.org$/);
  expect(one.address).not.toBe(two.address);
});

test('a failure bounces the recipient that it names, whatever the case of the address, once; it stays charged', async () => {
  const { id, address } = await sent(['ada@example.net', 'gone@example.net']);
  const before = await bench.balance();
  expect(
    (await comesBack(address.toUpperCase(), report('Gone@Example.net', 'failed', '5.1.1'))).body.data,
  ).toMatchObject({ email_id: id });
  await comesBack(address, report('gone@example.net', 'failed', '5.1.1'));
  expect(await statuses(id)).toEqual(['sent', 'bounced']);
  expect(await bench.balance()).toBe(before);
  expect((await types()).filter((type) => /bounced|suppressed/.test(type))).toEqual([
    'email.bounced',
    'email.auto_suppressed',
  ]);
});

test('a delay is told, a success is delivered, and a late failure still counts', async () => {
  bench = await bench.withAccount();
  const { id, address } = await sent('slow@example.net');
  await comesBack(address, report('slow@example.net', 'delayed', '4.4.1'));
  expect(await statuses(id)).toEqual(['sent']);
  await comesBack(address, report('slow@example.net', 'delivered', '2.0.0'));
  expect(await statuses(id)).toEqual(['delivered']);
  await comesBack(address, report('slow@example.net', 'failed', '5.2.2'));
  expect(await statuses(id)).toEqual(['bounced']);
  expect(await types()).toEqual(['email.queued', 'email.sent', 'email.deferred', 'email.delivered', 'email.bounced']);
});

test('an address that bounces three times in 30 days gets no more mail', async () => {
  bench = await bench.withAccount();
  for (let times = 0; times < 3; times += 1) {
    const { address } = await sent('full@example.net');
    await comesBack(address, report('full@example.net', 'failed', '5.2.2'));
  }
  expect((await bench.send({ to: 'full@example.net' })).body.error.code).toBe('RECIPIENT_SUPPRESSED');
});

test('a forged report changes nothing: an address that is made up, of another mail, or for somebody who got none', async () => {
  bench = await bench.withAccount();
  const [mine, other] = [await sent(['ada@example.net', 'bob@example.net']), await sent('eve@example.net')];
  const wrong = mine.address.replace(/.(?=@)/, (last) => (last === 'a' ? 'b' : 'a'));
  expect((await comesBack(wrong, report('ada@example.net', 'failed', '5.1.1'))).status).toBeGreaterThanOrEqual(400);
  expect(
    (await comesBack(`b+${'a'.repeat(55)}@${BOUNCES}`, report('ada@example.net', 'failed', '5.1.1'))).status,
  ).toBeGreaterThanOrEqual(400);
  await comesBack(mine.address, report('stranger@example.net', 'failed', '5.1.1'));
  expect([await statuses(mine.id), await statuses(other.id)]).toEqual([['sent', 'sent'], ['sent']]);
  expect((await bench.call('GET', '/v1/email/suppression/list')).body.data.items).toEqual([]);
});
