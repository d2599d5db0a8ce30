// Headers for which mailauth would take minutes and gigabytes are not given to it.
import { expect, test } from 'vitest';
import { startNameServer } from '../../../../test/support/name-server.ts';
import { checkMail } from './authenticate.ts';

const UNREADABLE = { spf: 'permerror', dkim: 'permerror', dmarc: 'permerror' };
const origin = { ip: null, helo: null, envelopeFrom: '' };

test.each([
  ['of 10,001 lines', `From: a@far.test\r\n${' w\r\n'.repeat(10_001)}\r\nText`, false],
  ['of 10,001 lines that end without a carriage return', `From: a@far.test\n${' w\n'.repeat(10_001)}\nText`, false],
  ['of one long line', `From: a@far.test\r\nX: ${'w'.repeat(256 * 1024)}\r\n\r\nText`, false],
  ['that does not end', `From: a@far.test\r\n${`X: ${'w'.repeat(60)}\r\n`.repeat(5_000)}`, false],
  ['that is one line without an end', 'w'.repeat(256 * 1024 + 1), false],
  ['of 9,000 lines', `From: a@far.test\r\n${' w\r\n'.repeat(9_000)}\r\nText`, true],
  ['before a long body', `From: a@far.test\r\n\r\n${'w\r\n'.repeat(200_000)}`, true],
  ['before a long body without carriage returns', `From: a@far.test\n\n${'w\n'.repeat(200_000)}`, true],
  ['that is empty', '\r\nText', true],
])('a header %s', async (_what, text, isChecked) => {
  const found = await checkMail(Buffer.from(text), origin, { dnsServers: ['127.0.0.1:1'] });
  if (isChecked) expect(found).not.toEqual(UNREADABLE);
  else expect(found).toEqual(UNREADABLE);
});

test('a mail of a hundred signatures makes sixty look-ups at most', async () => {
  const server = await startNameServer();
  try {
    // Of an empty body, so that its key is asked for.
    const signature = (n: number) =>
      `DKIM-Signature: v=1; a=rsa-sha256; d=far${n}.test; s=s1; h=from; bh=frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=; b=AAAA\r\n`;
    const headers = Array.from({ length: 100 }, (_, n) => signature(n)).join('');
    const mail = Buffer.from(`${headers}From: a@far.test\r\n\r\n`);
    await checkMail(mail, origin, { dnsServers: [server.address] });
    const names = new Set(server.asked);
    expect(names.size).toBeGreaterThan(10);
    expect(names.size).toBeLessThanOrEqual(60);
  } finally {
    await server.stop();
  }
});
