// The sandbox makes real videos from prompts: their size, length and bytes, whatever the words are.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { create } from 'fontkit';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { ordersIn } from '../../src/jobs/orders.ts';
import { shotsOf } from '../../src/modules/video/vendors/sandbox/storyboard.ts';
import { unpackWoff } from '../../src/pictures/woff.ts';
import { boxesOf, inspect, makeVideo } from './sample.ts';

describe('a video', () => {
  test('has the size, the length and the frames that were asked for, and its index first', async () => {
    const { video } = await makeVideo({
      widthPx: 720,
      heightPx: 1_280,
      scenes: [{ prompt: 'One. Two. Three.', seconds: 2, seed: 1 }],
    });
    expect(await inspect(video)).toMatchObject({ widthPx: 720, heightPx: 1_280, seconds: 2, frames: 48 });
    expect((await inspect(video)).codec).toMatch(/^avc1\.42/);
    expect(boxesOf(video)).toEqual(['ftyp', 'moov', 'mdat']);
  });

  test('of the same scenes and seed is the same to the last byte; another seed makes another', async () => {
    const scenes = (seed: number | null) => [{ prompt: 'A boat. 纸船在池塘上。', seconds: 1, seed }];
    const [one, again, other, none, none2] = await Promise.all(
      [1, 1, 2, null, null].map((seed) => makeVideo({ scenes: scenes(seed) })),
    );
    expect(again?.digest).toBe(one?.digest);
    expect(other?.digest).not.toBe(one?.digest);
    expect(none2?.digest).toBe(none?.digest);
  });

  test('of two scenes begins as the video of the first', async () => {
    const scene = { prompt: 'A boat.', seconds: 1, seed: 1 };
    const { video } = await makeVideo({ scenes: [scene, { ...scene, prompt: 'Rain.' }] });
    expect(await inspect(video)).toMatchObject({ frames: 48, seconds: 2 });
  });

  test('opens with the reference image', async () => {
    const image = await sharp({ create: { width: 100, height: 100, channels: 3, background: '#f00' } })
      .png()
      .toBuffer();
    const { thumbnail } = await makeVideo({ image, prompt: '' });
    const { dominant } = await sharp(thumbnail).stats();
    expect(dominant.r).toBeGreaterThan(200);
    expect(dominant.b).toBeLessThan(60);
  });

  test.each([
    ['of 4,000 characters without a space', 'x'.repeat(4_000)],
    ['of 4,000 characters of Chinese', '船'.repeat(4_000)],
    ['of emoji, and of letters that no font has', '🚤🌧️ مرحبا بالعالم \u{1F9FF}'],
    ['of control characters', '\u0000\u0007\u001b[31m\u202e\ud800 end'],
    ['of markup', '</svg><script>alert(1)</script> <image href="file:///etc/passwd"/> & "quotes"'],
    ['of nothing but blanks', ' \n\t '],
  ])('is made of a prompt %s', async (_, prompt) => {
    const { video } = await makeVideo({ prompt });
    expect(await inspect(video)).toMatchObject({ frames: 24 });
  });
});

describe('orders in a prompt', () => {
  test('are not shown, and of time they take ten minutes at most', () => {
    const [shot] = shotsOf([{ prompt: 'A boat [[slow:3]] sails.', seconds: 1, seed: 1 }]);
    expect(shot?.text).toBe('A boat   sails.');
    expect(ordersIn(['[[slow:99999]]']).slowSeconds).toBe(600);
  });
});

test('a video is stopped between two frames', async () => {
  const stopping = new AbortController();
  const seen: number[] = [];
  const making = makeVideo({
    scenes: [{ prompt: 'Long.', seconds: 60, seed: 1 }],
    signal: stopping.signal,
    onProgress(pct) {
      seen.push(pct);
      stopping.abort(new Error('stopped'));
    },
  });
  await expect(making).rejects.toThrow('stopped');
  expect(seen[0]).toBeLessThan(50);
});

test('every bundled font of the weight that is used can be read', () => {
  const require = createRequire(import.meta.url);
  for (const name of ['noto-sans', 'noto-sans-sc']) {
    const folder = join(dirname(require.resolve(`@fontsource/${name}/package.json`)), 'files');
    for (const file of readdirSync(folder).filter((one) => one.endsWith('-700-normal.woff'))) {
      const font = create(unpackWoff(readFileSync(join(folder, file))));
      expect(font.numGlyphs, file).toBeGreaterThan(1);
    }
  }
});

test('shots share the frames of their scene, to the last one', () => {
  for (const [prompt, seconds] of [
    ['A. B. C.', 1],
    ['One', 60],
    ['A. B. C. D. E. F. G. H. I. J.', 1],
  ] as const) {
    const shots = shotsOf([{ prompt, seconds, seed: 1 }]);
    expect(shots.reduce((sum, { frames }) => sum + frames, 0)).toBe(seconds * 24);
    expect(Math.min(...shots.map(({ frames }) => frames))).toBeGreaterThanOrEqual(8);
  }
});
