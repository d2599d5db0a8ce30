import { expect, test } from 'vitest';
import { readReport } from './report.ts';

const mailOf = (status: readonly string[]) =>
  Buffer.from(
    [
      'Content-Type: multipart/report; boundary=b',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      ...status,
      '--b--',
      '',
    ].join('\n'),
  );

const nested = (depth: number) =>
  Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}`).join('\n');

test.each([
  ['20,000 levels of parts', Buffer.from(`${nested(20_000)}\n\nx`)],
  ['100 levels of parts', Buffer.from(`${nested(100)}\n\nx`)],
  ['100,000 parts', Buffer.from(`Content-Type: multipart/report; boundary=b\n\n${'--b\n'.repeat(100_000)}`)],
  ['10 MB of header', Buffer.from(`X: ${'y'.repeat(10_000_000)}\n\nx`)],
  ['500,000 folded lines', Buffer.from(`Subject: x\n${' y\n'.repeat(500_000)}\n\nx`)],
  ['10 MB in one line', Buffer.from(`Subject: x\n\n${'z'.repeat(10_000_000)}`)],
  ['10 MB of line feeds', Buffer.from(`Subject: x\n\n${'\n'.repeat(10_000_000)}`)],
  ['comments in comments', Buffer.from(`Content-Type: ${'('.repeat(60_000)}\n\nx`)],
])('%s are read as no report, within a bound of work', async (_name, source) => {
  const begunMs = process.threadCpuUsage().user;
  expect(await readReport(source)).toBeNull();
  expect((process.threadCpuUsage().user - begunMs) / 1_000).toBeLessThan(1_000);
});

test('of 5,000 recipients the first 100 are told', async () => {
  const groups = Array.from({ length: 5_000 }, (_, at) => [
    '',
    `Final-Recipient: rfc822; r${at}@far.test`,
    'Action: failed',
    'Status: 5.1.1',
  ]);
  expect((await readReport(mailOf(['Reporting-MTA: dns; mx', ...groups.flat()])))?.recipients).toHaveLength(100);
});
