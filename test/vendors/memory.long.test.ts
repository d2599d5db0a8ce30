// Answers and videos without end take no memory: what is read of them is bounded, and a video streams as fast as it is written.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { videoAdapters } from '../../src/modules/video/vendors/index.ts';
import type { VideoAdapter } from '../../src/modules/video/vendors/port.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import type { VendorDouble } from '../support/vendors/double.ts';
import { callOf, guardedClient, workFor } from '../support/vendors/index.ts';
import { falWire } from '../support/vendors/wires.ts';

const MIB = 1024 * 1024;
const AT_ONCE = 32;

let vendor: ChildProcess;
let double: VendorDouble;
let outbound: OutboundClient;
let adapter: VideoAdapter;
beforeAll(async () => {
  vendor = spawn(process.execPath, [join(import.meta.dirname, '../support/endless-vendor.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(vendor.stdout as NonNullable<typeof vendor.stdout>, 'data');
  double = { ...JSON.parse(String(line)), wire: falWire };
  outbound = guardedClient();
  adapter = videoAdapters().find((each) => each.name === 'fal') as VideoAdapter;
});
afterAll(async () => {
  await outbound.close();
  vendor.stdin?.end();
  await once(vendor, 'exit');
});

/** What the process takes more while it does so, MiB. */
async function growth(work: () => Promise<void>): Promise<number> {
  await work();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  for (let round = 0; round < 8; round += 1) await work();
  clearInterval(watch);
  return (most - before) / MIB;
}
const atOnce = (work: () => Promise<void>) => Promise.all(Array.from({ length: AT_ONCE }, work)).then(() => undefined);

test('polls that are answered without end', async () => {
  const submission = await adapter.submit(callOf(double, outbound), workFor(double));
  if (submission.kind !== 'accepted') throw new Error(JSON.stringify(submission));
  const grown = await growth(() =>
    atOnce(async () => {
      expect(await adapter.poll(callOf(double, outbound), submission.job)).toMatchObject({ kind: 'unanswered' });
    }),
  );
  // One MiB of each is read: 256 answers are not held, nor what comes behind it.
  expect(grown).toBeLessThan(160);
});

test('videos without end that nobody writes away as fast as they come', async () => {
  const grown = await growth(() =>
    atOnce(async () => {
      const download = await adapter.download(callOf(double, outbound), `http://${double.assetHost}/videos/1.mp4`);
      if (download.kind !== 'opened') throw new Error(download.message);
      for (let chunks = 0; chunks < 4; chunks += 1)
        await once(download.body, 'readable').then(() => download.body.read());
      download.body.destroy();
    }),
  );
  expect(grown).toBeLessThan(160);
});
