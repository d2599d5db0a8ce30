// Fetching what a vendor made: where the key goes, where nothing may go, and what is no video.

import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fetchFile } from '../../src/vendors/call/fetch-file.ts';
import type { JobDownload } from '../../src/vendors/call/job.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { startVendor, type VendorDouble } from '../support/vendors/double.ts';
import { callOf, guardedClient } from '../support/vendors/index.ts';
import { BYTES, type VideoBehaviour } from '../support/vendors/videos.ts';
import { openaiWire } from '../support/vendors/wires.ts';

let outbound: OutboundClient;
let double: VendorDouble;
beforeAll(() => {
  outbound = guardedClient();
});
afterAll(() => outbound.close());
beforeEach(async () => {
  double = await startVendor(openaiWire);
});
afterEach(() => double.close());

function fetchFrom(url: string, more: Parameters<typeof callOf>[2] = {}): Promise<JobDownload> {
  return fetchFile(callOf(double, outbound, more), { authorization: `Bearer ${double.key}` }, url);
}
const ours = () => `${double.baseUrl}/videos/video_1/content`;
const asset = () => `http://${double.assetHost}/videos/1.mp4`;

function bodyOf(download: JobDownload) {
  if (download.kind !== 'opened') throw new Error(download.message);
  return download.body;
}

describe('where the key goes', () => {
  test("to the vendor's own origin, not to the host of its files", async () => {
    expect(await buffer(bodyOf(await fetchFrom(ours())))).toEqual(BYTES);
    expect(double.calls.at(-1)?.headers.authorization).toBe(`Bearer ${double.key}`);
    expect(await buffer(bodyOf(await fetchFrom(asset())))).toEqual(BYTES);
    expect(double.assetCalls.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('not along a redirect', async () => {
    double.video = 'redirect';
    expect(await buffer(bodyOf(await fetchFrom(ours())))).toEqual(BYTES);
    expect(double.assetCalls.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

describe('where nothing goes', () => {
  test('to a private address that only an answer names', async () => {
    expect(await fetchFrom(asset(), { assetHosts: [] })).toMatchObject({ kind: 'unsound' });
    expect(double.assetCalls).toEqual([]);
  });

  test.each(['http://169.254.169.254/latest/meta-data/', 'http://127.0.0.1:1/', 'http://[::1]/', 'file:///etc/passwd'])(
    'not along a redirect either: %s',
    async (redirectTo) => {
      double.video = { redirectTo };
      expect(await fetchFrom(ours())).toMatchObject({ kind: 'unsound' });
    },
  );

  test('in circles', async () => {
    double.video = 'loop';
    expect(await fetchFrom(asset())).toMatchObject({ kind: 'unsound' });
    expect(double.assetCalls).toHaveLength(1 + 3);
  });
});

describe('what is no video', () => {
  test.each<[VideoBehaviour, string]>([
    ['html', 'unsound'],
    ['json', 'unsound'],
    ['empty', 'unsound'],
    ['huge', 'unsound'],
    ['gone', 'gone'],
    ['forbidden', 'gone'],
    ['busy', 'again'],
  ])('%s', async (video, kind) => {
    double.video = video;
    expect(await fetchFrom(ours())).toMatchObject({ kind });
  });

  test.each([
    ['video/mp4', '\0\0\0\x18ftypisom\0\0\x02\0'],
    ['video/mp4', '\0\0\0\x08free\0\0\0\0mdat'],
    ['video/webm', '\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81'],
    ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF\0\x01'],
    ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
    ['image/webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ])('%s is known by its first bytes', async (contentType, head) => {
    const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.alloc(50)]);
    double.video = { bytes };
    const download = await fetchFrom(ours());
    expect(download).toMatchObject({ kind: 'opened', contentType, sizeBytes: bytes.length });
    expect(await buffer(bodyOf(download))).toEqual(bytes);
  });

  test.each(['GIF89a123456', 'BM1234567890', 'short', '{"ftyp":1234'])('%s is nothing', async (head) => {
    double.video = { bytes: Buffer.from(head) };
    expect(await fetchFrom(ours())).toMatchObject({ kind: 'unsound' });
  });
});

describe('a file that does not come to its end', () => {
  test('breaks off', async () => {
    double.video = 'breaks';
    await expect(buffer(bodyOf(await fetchFrom(ours())))).rejects.toMatchObject({ code: 'reset' });
  });

  test('dawdles', async () => {
    double.video = 'stalls';
    const timeouts = { idleMs: 200 };
    await expect(buffer(bodyOf(await fetchFrom(ours(), { timeouts })))).rejects.toMatchObject({ code: 'timeout' });
    double.video = 'silent';
    expect(await fetchFrom(ours(), { timeouts })).toMatchObject({ kind: 'again' });
  });

  test('has none: it ends in time, and nothing is held that nobody has read', async () => {
    double.video = 'endless';
    const body = bodyOf(await fetchFrom(ours(), { timeouts: { downloadMs: 300 } }));
    await new Promise((resolve) => body.once('close', resolve));
    expect(body.errored).toMatchObject({ code: 'timeout' });
    expect(body.readableLength).toBeLessThan(1024 * 1024);
  });

  test('is not wanted any more', async () => {
    double.video = 'endless';
    const controller = new AbortController();
    const body = bodyOf(await fetchFrom(ours(), { signal: controller.signal }));
    controller.abort();
    await expect(buffer(body)).rejects.toMatchObject({ code: 'aborted' });
  });
});
