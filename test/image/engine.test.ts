// What becomes of an image: its size, its place, its frames and its format are exactly those asked for, and nothing else of its file is left.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transform } from '../../src/modules/image/pictures/task.ts';
import { blank, openEngine } from './harness.ts';

let engine: Awaited<ReturnType<typeof openEngine>>;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

/** 40 x 20: red, green above blue, white, each a quarter. */
async function quarters(format: 'png' | 'jpeg' = 'png', orientation?: number): Promise<Buffer> {
  const part = (background: string) => blankOf(background);
  const places = [
    { input: await part('#f00'), left: 0, top: 0 },
    { input: await part('#0f0'), left: 20, top: 0 },
    { input: await part('#00f'), left: 0, top: 10 },
    { input: await part('#fff'), left: 20, top: 10 },
  ];
  const image = blank(40, 20).composite(places);
  const said = orientation === undefined ? image : image.withMetadata({ orientation });
  return said.toFormat(format, { quality: 100 }).toBuffer();
}

const blankOf = (background: string) =>
  sharp({ create: { width: 20, height: 10, channels: 3, background } })
    .png()
    .toBuffer();

const names: readonly (readonly [string, readonly number[]])[] = [
  ['red', [255, 0, 0]],
  ['green', [0, 255, 0]],
  ['blue', [0, 0, 255]],
  ['white', [255, 255, 255]],
];

/** The colours of the four corners, from the left above, line by line. */
async function corners(bytes: Buffer | null): Promise<string> {
  const { data, info } = await sharp(bytes as Buffer)
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * info.channels).subarray(0, 3)];
  const near = (colour: readonly number[]) =>
    names.find(([, values]) => values.every((value, i) => Math.abs(value - (colour[i] ?? 0)) < 60))?.[0] ?? `${colour}`;
  const [right, bottom] = [info.width - 2, info.height - 2];
  return [at(1, 1), at(right, 1), at(1, bottom), at(right, bottom)].map(near).join(' ');
}

const sizeOf = async (bytes: Buffer | null) => {
  const { width, height } = await sharp(bytes as Buffer).metadata();
  return `${width}x${height}`;
};

describe('the place of what is seen', () => {
  test.each<[string, Transform, string, string]>([
    ['stays', {}, '40x20', 'red green blue white'],
    ['turns clockwise', { rotate: 90 }, '20x40', 'blue red white green'],
    ['turns over', { rotate: 180 }, '40x20', 'white blue green red'],
    ['is mirrored', { flip: 'horizontal' }, '40x20', 'green red white blue'],
    ['is mirrored upside down', { flip: 'vertical' }, '40x20', 'blue white red green'],
    ['is cut', { crop: { left: 20, top: 0, width: 20, height: 20 } }, '20x20', 'green green white white'],
    [
      'is turned, then cut, then resized',
      { rotate: 90, crop: { left: 0, top: 0, width: 20, height: 20 }, resize: { width: 10 } },
      '10x10',
      'blue red blue red',
    ],
  ])('%s', async (_, transform, size, colours) => {
    const { bytes } = await engine.transform(await quarters(), transform);
    expect([await sizeOf(bytes), await corners(bytes)]).toEqual([size, colours]);
  });

  test('is upright by its EXIF first, which is then left out', async () => {
    const { bytes } = await engine.transform(await quarters('jpeg', 6), { resize: { width: 20 } });
    expect([await sizeOf(bytes), await corners(bytes)]).toEqual(['20x40', 'blue red white green']);
    expect((await sharp(bytes as Buffer).metadata()).orientation).toBeUndefined();
  });
});

test.each<[string, Transform['resize'], string]>([
  ['width alone', { width: 10 }, '10x5'],
  ['height alone', { height: 40 }, '80x40'],
  ['cover', { width: 10, height: 10 }, '10x10'],
  ['contain', { width: 10, height: 10, fit: 'contain' }, '10x10'],
  ['fill', { width: 10, height: 30, fit: 'fill' }, '10x30'],
  ['inside', { width: 10, height: 10, fit: 'inside' }, '10x5'],
  ['outside', { width: 10, height: 10, fit: 'outside' }, '20x10'],
])('resized by %s', async (_, resize, size) => {
  const { bytes, outcome } = await engine.transform(await quarters(), { resize });
  expect(await sizeOf(bytes)).toBe(size);
  expect(outcome).toMatchObject({ kind: 'made', widthPx: Number(size.split('x')[0]), pages: 1 });
});

const hole = {
  input: Buffer.from('<svg width="8" height="8"><rect width="8" height="8"/></svg>'),
  blend: 'dest-out',
} as const;

test.each(['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const)('%s is read and written', async (format) => {
  const { bytes, outcome } = await engine.transform(await blank(64, 48, 4).composite([hole]).png().toBuffer(), {
    format,
  });
  expect(outcome).toMatchObject({ kind: 'made', format, widthPx: 64, heightPx: 48 });
  const hasAlpha = format !== 'jpeg';
  expect(await engine.info(bytes as Buffer)).toMatchObject({ format, widthPx: 64, heightPx: 48, pages: 1, hasAlpha });
});

test('what is not asked for is not left: EXIF, profile, comments; kept when it is', async () => {
  const sent = await blank(64, 48)
    .withExif({ IFD0: { Copyright: 'a secret place' } })
    .withIccProfile('p3')
    .jpeg()
    .toBuffer();
  const clean = await engine.transform(sent, {});
  const left = Object.keys(await sharp(clean.bytes as Buffer).metadata());
  expect(left.filter((name) => ['exif', 'icc', 'xmp', 'comments'].includes(name))).toEqual([]);
  expect((clean.bytes as Buffer).includes('secret')).toBe(false);
  const kept = await engine.transform(sent, { keep_metadata: true });
  expect((await sharp(kept.bytes as Buffer).metadata()).exif?.includes('a secret place')).toBe(true);
});

test('transparent parts get a colour where they are to have one, or the format has none', async () => {
  const clear = await sharp({
    create: { width: 8, height: 8, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  const colourOf = async (transform: Transform) => {
    const { bytes } = await engine.transform(clear, transform);
    return [
      ...(
        await sharp(bytes as Buffer)
          .raw()
          .toBuffer()
      ).subarray(0, 4),
    ];
  };
  expect(await colourOf({})).toEqual([0, 0, 0, 0]);
  expect((await colourOf({ format: 'jpeg' })).slice(0, 3)).toEqual([255, 255, 255]);
  expect((await colourOf({ background: '#ff0000' })).slice(0, 3)).toEqual([255, 0, 0]);
});

test('a grey, a blurred and a sharpened image', async () => {
  const sent = await quarters();
  const { bytes } = await engine.transform(sent, { grayscale: true });
  const [red, green] = (await corners(bytes)).split(' ');
  expect([red, green]).not.toContain('red');
  expect((await engine.transform(sent, { blur: 5 })).bytes).not.toEqual((await engine.transform(sent, {})).bytes);
  expect((await engine.transform(sent, { sharpen: 2 })).outcome).toMatchObject({ kind: 'made' });
});

test('a quality that a format does not have is told, and a lower one makes fewer bytes', async () => {
  const noise = await sharp({
    create: {
      width: 200,
      height: 200,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  })
    .png()
    .toBuffer();
  const [low, high] = [
    await engine.transform(noise, { format: 'jpeg', quality: 20 }),
    await engine.transform(noise, { format: 'jpeg', quality: 95 }),
  ];
  expect((low.bytes as Buffer).length * 2).toBeLessThan((high.bytes as Buffer).length);
  const { outcome } = await engine.transform(noise, { format: 'png', quality: 20 });
  expect(outcome).toMatchObject({ warnings: ['quality: png has none; it is ignored.'] });
});

describe('an animation', () => {
  const frames = async () =>
    sharp(await Promise.all(['#f00', '#0f0', '#00f'].map(blankOf)), { join: { animated: true } })
      .gif()
      .toBuffer();

  test('keeps its frames in their order where the format has them', async () => {
    const { bytes, outcome } = await engine.transform(await frames(), { resize: { width: 10 }, format: 'webp' });
    expect(outcome).toMatchObject({ pages: 3, widthPx: 10, heightPx: 5 });
    const { data, info } = await sharp(bytes as Buffer, { animated: true })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const colours = [0, 5, 10].map((line) => data[line * info.width * info.channels]);
    expect(colours.map((red) => (red as number) > 200)).toEqual([true, false, false]);
  });

  test('is its first frame where the format has one', async () => {
    const { bytes, outcome } = await engine.transform(await frames(), { format: 'png' });
    expect(outcome).toMatchObject({ pages: 1, widthPx: 20, heightPx: 10 });
    expect(await corners(bytes)).toBe('red red red red');
  });

  test('is not turned, for its frames would be mixed', async () => {
    const { outcome } = await engine.transform(await frames(), { blur: 3 });
    expect(outcome).toMatchObject({ kind: 'refused', rule: 'image_animated' });
  });
});
