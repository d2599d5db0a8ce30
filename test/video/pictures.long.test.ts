// Pictures are made in processes of their own: what a hostile one takes there is bounded, and the next one is not worse off for it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import type { MadePicture, PictureBounds, PictureTask } from '../../src/modules/video/vendors/port.ts';
import { DecodePlaces } from '../../src/pictures/decode-places.ts';
import { PictureProcesses } from '../../src/pictures/processes.ts';
import { jpegOfScans, pngOf } from '../support/hostile-pictures.ts';

const CLEAN: PictureTask = { kind: 'clean' };
const bounds = admission.call.picture;
const never = new AbortController().signal;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-pictures-'));
});
afterAll(() => rm(folder, { recursive: true }));

const blank = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c84' }, limitInputPixels: false });

const source = new URL('../../src/modules/video/vendors/pictures/process.ts', import.meta.url);
const decoder = (over: Partial<PictureBounds> = {}) =>
  new PictureProcesses<PictureTask, PictureBounds, MadePicture>(
    source,
    { ...bounds, ...over },
    new DecodePlaces(admission.all),
  );

let files = 0;
async function made(bytes: Uint8Array, over: Partial<PictureBounds> = {}, task = CLEAN, signal = never) {
  files += 1;
  const [from, to] = [join(folder, `${files}.in`), join(folder, `${files}.out`)];
  await writeFile(from, bytes);
  const outcome = await decoder(over).make(from, to, task, signal);
  return { outcome, bytes: await readFile(to).catch(() => null) };
}

describe('a picture', () => {
  test('of 40 megapixels and 8 bits is made, and a turned one is upright', async () => {
    const turned = await blank(8_000, 5_000).jpeg({ progressive: true }).withMetadata({ orientation: 6 }).toBuffer();
    const { outcome, bytes } = await made(turned);
    expect(outcome).toEqual({ kind: 'made', contentType: 'image/jpeg' });
    expect(await sharp(bytes as Buffer).metadata()).toMatchObject({ width: 5_000, height: 8_000 });
  });

  test('may have a video behind it, whose bytes look like scans', async () => {
    const photo = await blank(128, 96).jpeg({ progressive: true }).toBuffer();
    const video = Buffer.alloc(100_000, Buffer.from([0xff, 0xda]));
    expect((await made(Buffer.concat([photo, video]))).outcome).toMatchObject({ kind: 'made' });
  });

  test('of 16 bits is kept with 8', async () => {
    const { bytes } = await made(pngOf({ width: 128, height: 96, depth: 16 }));
    expect(await sharp(bytes as Buffer).metadata()).toMatchObject({ format: 'png', depth: 'uchar', width: 128 });
  });

  test('may be a thumbnail, and may cover a video', async () => {
    const sent = await blank(1_000, 500).webp().toBuffer();
    const small = await made(sent, {}, { kind: 'thumbnail', sidePx: 100 });
    expect(await sharp(small.bytes as Buffer).metadata()).toMatchObject({ format: 'jpeg', width: 100, height: 50 });
    const cover = await made(sent, {}, { kind: 'cover', widthPx: 320, heightPx: 320 });
    expect(await sharp(cover.bytes as Buffer).metadata()).toMatchObject({ format: 'png', width: 320, height: 320 });
  });
});

describe('is refused before it is decoded', () => {
  test.each<[string, () => Buffer, string]>([
    ['an animated PNG', () => pngOf({ width: 128, height: 96, animated: true }), 'image_animated'],
    ['a JPEG of 1,000 scans in 140 KB', () => jpegOfScans(8_192, 4_880, 1_000), 'image_too_costly'],
    [
      '40 megapixels of 16 bits with alpha in 500 KB',
      () => pngOf({ width: 8_000, height: 5_000, depth: 16, alpha: true, orientation: 6 }),
      'image_size',
    ],
  ])('%s', async (_, make, rule) => {
    const { outcome, bytes } = await made(make(), { cpuMsMax: 3_000 });
    expect(outcome).toMatchObject({ kind: 'refused', rule });
    expect(bytes).toBeNull();
  });
});

describe('ends with its process, and leaves nothing', () => {
  const costly = () => jpegOfScans(8_192, 4_880, 60);
  test.each<[string, Partial<PictureBounds>, object]>([
    ['a picture that takes more processor time', { cpuMsMax: 1 }, { kind: 'refused', rule: 'image_too_costly' }],
    ['more memory', { memoryBytesMax: 1 }, { kind: 'refused', rule: 'image_too_costly' }],
    ['more time than there is on a busy machine', { msMax: 1 }, { kind: 'late' }],
  ])('%s', async (_, over, outcome) => {
    const end = await made(costly(), over);
    expect(end.outcome).toMatchObject(outcome);
    expect(end.bytes).toBeNull();
  });

  test('one whose call is over', async () => {
    const stopping = new AbortController();
    const making = made(costly(), {}, CLEAN, stopping.signal);
    setTimeout(() => stopping.abort(new Error('enough')), 100);
    await expect(making).rejects.toThrow('enough');
  });
});

test('a process makes one picture after the other, and another takes its place when it has ended', async () => {
  const pictures = decoder();
  const good = await blank(128, 96).png().toBuffer();
  const make = async (name: string, bytes: Uint8Array) => {
    await writeFile(join(folder, name), bytes);
    return pictures.make(join(folder, name), join(folder, `${name}.out`), CLEAN, never);
  };
  const large = await blank(4_000, 4_000).jpeg().toBuffer();
  const outcomes = await Promise.all([
    make('a', good),
    make('b', large),
    make('c', large),
    make('d', Buffer.from('no picture')),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['made', 'made', 'made', 'refused']);
  expect((await make('e', good)).kind).toBe('made');
});
