// What a vendor calls a video is looked through before anybody gets it: what is none is refused, and costs neither memory nor time.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MP4,
  Output,
  WebMOutputFormat,
} from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { videoChecks } from '../../src/modules/video/vendors/container/check.ts';
import { boxesOf, inspect } from './sample.ts';
import { aVideo } from './vendors-harness.ts';

const ffmpeg = ['/usr/bin/ffmpeg', '/usr/local/bin/ffmpeg'].find((each) => existsSync(each)) ?? null;
const videos = videoChecks({ ffmpegPath: null, log: { warn: () => undefined } });

let folder: string;
let video: Buffer;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-sound-'));
  video = await aVideo();
  path = join(folder, 'video');
});
afterAll(() => rm(folder, { recursive: true }));

async function check(bytes: Uint8Array) {
  await writeFile(path, bytes);
  return videos.check('acc', path, new AbortController().signal);
}

/** To count through billions of frames takes far longer. */
const CPU_MS_MAX = 1_000;

/** Milliseconds of processor time of this process, with its threads. */
async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The boxes of a video at the top, by their names. */
function parts(bytes: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  let at = 0;
  for (const name of boxesOf(bytes)) {
    const size = bytes.readUInt32BE(at);
    found.set(name, bytes.subarray(at, at + size));
    at += size;
  }
  return found;
}

/** Changes each place that the table of chunks names. */
function shifted(index: Buffer, by: number): Buffer {
  const moved = Buffer.from(index);
  const at = moved.indexOf('stco') + 4;
  const entries = moved.readUInt32BE(at + 4);
  for (let n = 0; n < entries; n += 1) moved.writeUInt32BE(moved.readUInt32BE(at + 8 + 4 * n) + by, at + 8 + 4 * n);
  return moved;
}

/** The same video as cameras write it: the index last. */
function indexLast(bytes: Buffer): Buffer {
  const all = parts(bytes);
  const index = all.get('moov') as Buffer;
  const rest = [...all].filter(([name]) => name !== 'moov').map(([, box]) => box);
  return Buffer.concat([...rest, shifted(index, -index.length)]);
}

async function frames(bytes: Uint8Array): Promise<string[]> {
  const input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('there is no video track');
  const found: string[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    found.push(`${packet.timestamp} ${Buffer.from(packet.data).toString('base64')}`);
  }
  return found;
}

describe('a video', () => {
  test('is sound, and stays as it is', async () => {
    expect(await check(video)).toEqual({
      kind: 'sound',
      contentType: 'video/mp4',
      widthPx: 320,
      heightPx: 180,
      durationSeconds: 1,
    });
    expect((await readFile(path)).equals(video)).toBe(true);
  });

  test.each(['stco', 'co64'])('whose index is last (%s) gets it first, and has the same frames', async (table) => {
    const last = table === 'stco' ? indexLast(video) : withLongPlaces(indexLast(video));
    expect(boxesOf(last).at(-1)).toBe('moov');
    expect(await frames(last)).toEqual(await frames(video));
    expect(await check(last)).toMatchObject({ kind: 'sound', durationSeconds: 1 });
    const after = await readFile(path);
    expect(boxesOf(after).indexOf('moov')).toBeLessThan(boxesOf(after).indexOf('mdat'));
    expect([after.length, await frames(after)]).toEqual([last.length, await frames(video)]);
    expect((await inspect(after)).frames).toBe(24);
  });

  test('may be WebM', async () => {
    const found = await check(await asWebm(video));
    expect(found).toMatchObject({ kind: 'sound', contentType: 'video/webm', widthPx: 320, heightPx: 180 });
  });
});

async function asWebm(bytes: Buffer): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new WebMOutputFormat(), target });
  const source = new EncodedVideoPacketSource('vp8');
  output.addVideoTrack(source);
  await output.start();
  const input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('there is no video track');
  const config = { decoderConfig: { codec: 'vp8', codedWidth: 320, codedHeight: 180 } };
  for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, config);
  await output.finalize();
  return Buffer.from(target.buffer as ArrayBuffer);
}

/** The same index with places of 64 bits. */
function withLongPlaces(bytes: Buffer): Buffer {
  const all = parts(bytes);
  const index = all.get('moov') as Buffer;
  const at = index.indexOf('stco') - 4;
  const size = index.readUInt32BE(at);
  const entries = index.readUInt32BE(at + 12);
  const long = Buffer.alloc(16 + 8 * entries);
  long.writeUInt32BE(long.length, 0);
  long.write('co64', 4, 'latin1');
  long.writeUInt32BE(entries, 12);
  for (let n = 0; n < entries; n += 1) long.writeBigUInt64BE(BigInt(index.readUInt32BE(at + 16 + 4 * n)), 16 + 8 * n);
  const longer = Buffer.concat([index.subarray(0, at), long, index.subarray(at + size)]);
  // Each box around it grows by as much.
  let inside = 0;
  for (const name of ['moov', 'trak', 'mdia', 'minf', 'stbl']) {
    const start = longer.indexOf(name, inside) - 4;
    longer.writeUInt32BE(longer.readUInt32BE(start) + long.length - size, start);
    inside = start + 8;
  }
  return Buffer.concat([...all].map(([name, box]) => (name === 'moov' ? longer : box)));
}

describe('no video', () => {
  const box = (type: string, size: number, body: Buffer = Buffer.alloc(0)) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(size, 0);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, body]);
  };
  const ftyp = () => video.subarray(0, video.readUInt32BE(0));

  test.each<[string, () => Buffer]>([
    ['an empty file', () => Buffer.alloc(0)],
    ['a page', () => Buffer.from('<!doctype html><title>Please sign in</title>')],
    ['JSON', () => Buffer.from('{"error":"not yet"}')],
    ['zeros', () => Buffer.alloc(100_000)],
    ['a head alone', () => Buffer.from(ftyp())],
    ['an index without pictures', () => Buffer.concat([ftyp(), box('moov', 8), box('mdat', 8)])],
    ['an index of 4 GiB that is not there', () => Buffer.concat([ftyp(), box('moov', 2 ** 32 - 1)])],
    ['a box of 2^62 bytes', () => Buffer.concat([ftyp(), box('moov', 1, Buffer.from('4000000000000000', 'hex'))])],
    ['a box that is shorter than its head', () => Buffer.concat([ftyp(), box('moov', 4), box('mdat', 8)])],
    [
      'a hundred thousand boxes',
      () => Buffer.concat([ftyp(), ...Array.from({ length: 100_000 }, () => box('free', 8))]),
    ],
    ['pictures without their bytes', () => Buffer.concat([ftyp(), parts(video).get('moov') as Buffer])],
  ])('%s is refused with a reason', async (_, bytes) => {
    expect(await check(bytes())).toEqual({ kind: 'unsound', message: expect.stringMatching(/^\S.{10,100}\.$/) });
  });

  test('half of one, cut anywhere, is refused', async () => {
    const cuts = Array.from({ length: 12 }, (_, n) => Math.floor((video.length * (n + 1)) / 13));
    for (const cut of cuts) expect(await check(video.subarray(0, cut)), `${cut}`).toMatchObject({ kind: 'unsound' });
  });

  test('tables that claim billions of frames cost neither memory nor time', async () => {
    const bomb = Buffer.from(video);
    for (const table of ['stsz', 'stts', 'stsc', 'stco']) {
      const at = bomb.indexOf(table) + (table === 'stsz' ? 12 : 8);
      bomb.writeUInt32BE(0xff_ff_ff_f0, at);
    }
    const before = process.memoryUsage().rss;
    expect(await cpuMsOf(() => check(bomb))).toBeLessThan(CPU_MS_MAX);
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  });

  test('a piece of billions of frames is refused before anybody counts through them', async () => {
    const bomb = Buffer.from(video);
    bomb.writeUInt32BE(0xff_ff_ff_f0, bomb.indexOf('stsc') + 16);
    const cpuMs = await cpuMsOf(async () =>
      expect(await check(bomb)).toEqual({ kind: 'unsound', message: 'its index does not add up.' }),
    );
    expect(cpuMs).toBeLessThan(CPU_MS_MAX);
  });

  test('an index of more than 64 MiB is refused, also where it comes first', async () => {
    const all = parts(video);
    const index = Buffer.concat([all.get('moov') as Buffer, box('free', 65 * 2 ** 20, Buffer.alloc(65 * 2 ** 20 - 8))]);
    index.writeUInt32BE(index.length, 0);
    const long = Buffer.concat([...all].map(([name, part]) => (name === 'moov' ? index : part)));
    expect(await check(long)).toEqual({ kind: 'unsound', message: 'its index is too large.' });
  });

  test('one that keeps its reader going without end is refused, and the next video is looked at', async () => {
    const endless = await asWebm(video);
    // Its table of places is not where its head says.
    endless[endless.lastIndexOf(Buffer.from('1c53bb6b', 'hex'))] = 0x43;
    await writeFile(path, endless);
    const quick = videoChecks({ ffmpegPath: null, log: { warn: () => undefined }, lookMsMax: 1_000 });
    const message = 'looking through it takes more time or memory than a video does.';
    expect(await quick.check('acc', path, new AbortController().signal)).toEqual({ kind: 'unsound', message });
    expect(await check(video)).toMatchObject({ kind: 'sound' });
  });

  test('a video that changes anywhere never harms the process that looks at it', { timeout: 60_000 }, async () => {
    const head = video.length - (parts(video).get('mdat')?.length ?? 0);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(head - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        async (changes) => {
          const bytes = Buffer.from(video);
          for (const [at, value] of changes) bytes[at] = value;
          const found = await check(bytes);
          expect(['sound', 'unsound']).toContain(found.kind);
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('a disk that fails is not the video’s fault, and nothing is left of a look that was ended', async () => {
  const signal = new AbortController().signal;
  await expect(videos.check('acc', join(folder, 'nowhere'), signal)).rejects.toThrow(/ENOENT/);
  await writeFile(path, indexLast(video));
  await truncate(path, (await stat(path)).size);
  const ending = new AbortController();
  const looking = videos.check('acc', path, ending.signal);
  ending.abort(new Error('the job has ended'));
  await expect(looking).rejects.toThrow('the job has ended');
});

describe('a picture of a video', () => {
  const to = () => join(folder, 'picture.jpg');
  const frame = (ffmpegPath: string | null, warned: string[] = []) =>
    videoChecks({ ffmpegPath, log: { warn: (_, message) => warned.push(message) } }).frame(
      'acc',
      { path, contentType: 'video/mp4' },
      to(),
      new AbortController().signal,
    );

  test('is not taken without the program, and a program that fails is told to the operator alone', async () => {
    await writeFile(path, video);
    const warned: string[] = [];
    expect([await frame(null, warned), warned]).toEqual([false, []]);
    expect([await frame('/nowhere/ffmpeg', warned), warned]).toEqual([false, ['no picture could be taken of a video']]);
  });

  test.runIf(ffmpeg !== null)('is taken by ffmpeg, where there is one', async () => {
    await writeFile(path, video);
    expect(await frame(ffmpeg)).toBe(true);
    expect(await sharp(to()).metadata()).toMatchObject({ format: 'jpeg', width: 320, height: 180 });
  });
});
