// What does it cost to resize an image (2000 x 1333 → 500, JPEG) in a process of its own, its files and messages included, against bare sharp
// here? And what does a whole call of image.transform cost, one at a time: base64, charge and PostgreSQL's commit included?
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { admission } from '../src/core/admission.ts';
import type { ImageBounds, ImageTask, MadeImage } from '../src/modules/image/pictures/task.ts';
import { DecodePlaces } from '../src/pictures/decode-places.ts';
import { PictureProcesses } from '../src/pictures/processes.ts';
import { treeSeconds } from './support/processor.ts';
import { median, print } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const EACH = Number(process.env.BENCH_IMAGES ?? 60);
const GOAL = 1.3;

sharp.concurrency(1);
sharp.cache(false);
const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
const small = await sharp({ create: { width: 500, height: 333, channels: 3, background: '#888', noise } })
  .png()
  .toBuffer();
const photo = await sharp(small).resize(2_000, 1_333).jpeg({ quality: 85 }).toBuffer();

const service = await startBenchService(1);
const [account] = service.accounts;
if (account === undefined) throw new Error('no account');
const sent = { source: { content_base64: photo.toString('base64') }, resize: { width: 500 }, inline: true };

const bare = () => sharp(photo, { failOn: 'error' }).autoOrient().resize({ width: 500 }).jpeg().toBuffer();
const call = () => service.call(account.secret, '/v1/image/transform', sent);

/** Milliseconds of processor time of an image. */
async function cost(seconds: () => number, make: () => Promise<unknown>): Promise<number> {
  const before = seconds();
  for (let i = 0; i < EACH; i += 1) await make();
  return ((seconds() - before) * 1_000) / EACH;
}

const folder = mkdtempSync(join(tmpdir(), 'qm-bench-image-'));
const [from, to] = [join(folder, 'in'), join(folder, 'out')];
const source = new URL('../src/modules/image/pictures/process.ts', import.meta.url);
const turns = new DecodePlaces(admission.all);
const engine = new PictureProcesses<ImageTask, ImageBounds, MadeImage>(source, admission.call.image, turns);
const task = { kind: 'transform', transform: { resize: { width: 500 } } } as const;
const never = new AbortController().signal;
async function apart(): Promise<void> {
  writeFileSync(from, photo);
  const { kind } = await engine.make(from, to, task, never);
  if (kind !== 'made') throw new Error(kind);
}

/** Of this process and those that it has made, but the service. */
const ours = () => treeSeconds(process.pid) - treeSeconds(service.pid);
const own = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

await Promise.all([bare(), apart(), call()]);
const rounds: { bare: number; apart: number; served: number }[] = [];
for (let i = 0; i < ROUNDS; i += 1)
  rounds.push({
    bare: await cost(own, bare),
    apart: await cost(ours, apart),
    served: await cost(() => treeSeconds(service.pid), call),
  });
const ratio = median(rounds.map((each) => each.apart / each.bare));
const whole = median(rounds.map((each) => each.served / each.bare));
print(`image: a JPEG of ${Math.round(photo.length / 1024)} KB, 2000 x 1333 → 500`, [
  { what: 'bare sharp, ms of processor', value: median(rounds.map((each) => each.bare)).toFixed(1) },
  { what: 'in a process of its own, ms', value: median(rounds.map((each) => each.apart)).toFixed(1) },
  { what: 'its own process / bare', value: ratio.toFixed(2), target: `≤ ${GOAL}`, met: ratio <= GOAL },
  { what: 'a whole call, one at a time, ms', value: median(rounds.map((each) => each.served)).toFixed(1) },
  { what: 'a whole call / bare', value: whole.toFixed(2) },
]);
rmSync(folder, { recursive: true });
await service.stop();
process.exit(0);
