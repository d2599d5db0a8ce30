// The sandbox's videos in every shape and size: what the container says is exact, the same request makes the same bytes, and ffmpeg, where there
// is one, decodes each without a word.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pictureSize } from '../../src/modules/video/jobs/picture.ts';
import { aspectRatios, resolutions } from '../../src/modules/video/jobs/row.ts';
import { isSoak } from '../support/soak.ts';
import { inspect, makeVideo } from './sample.ts';

const run = promisify(execFile);
const hasFfmpeg = existsSync('/usr/bin/ffmpeg') && existsSync('/usr/bin/ffprobe');
if (!hasFfmpeg) console.log('there is no /usr/bin/ffmpeg: videos are not decoded here, only their containers are read');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-matrix-'));
});
afterAll(() => rm(folder, { recursive: true }));

const FRAMES = 24;
/** What is random in a video would differ in each shape of it. */
const MADE_AGAIN = '9:16';
const all = resolutions.flatMap((resolution) => aspectRatios.map((ratio) => [resolution, ratio] as const));
const matrix = isSoak
  ? all
  : ([
      ['720p', '9:16'],
      ['4k', '21:9'],
    ] as const);

describe('a video of one second', () => {
  test.each(matrix)('at %s, %s', { timeout: 60_000 }, async (resolution, ratio) => {
    const size = pictureSize(resolution, ratio);
    const { video, digest } = await makeVideo({ ...size, prompt: 'A boat. 一艘纸船。' });
    expect(await inspect(video)).toMatchObject({ ...size, frames: FRAMES, seconds: expect.closeTo(1, 6) });
    if (resolution !== '4k' && ratio === MADE_AGAIN)
      expect((await makeVideo({ ...size, prompt: 'A boat. 一艘纸船。' })).digest).toBe(digest);
    if (hasFfmpeg) await decode(video, size);
  });
});

async function decode(video: Buffer, { widthPx, heightPx }: { widthPx: number; heightPx: number }): Promise<void> {
  const path = join(folder, 'video.mp4');
  await writeFile(path, video);
  const decoded = await run('/usr/bin/ffmpeg', ['-nostdin', '-v', 'warning', '-i', path, '-f', 'null', '-']);
  expect(decoded.stderr).toBe('');
  const entries = 'stream=width,height,nb_read_frames,duration,codec_name,profile';
  const told = await run('/usr/bin/ffprobe', [
    '-v',
    'warning',
    '-count_frames',
    '-show_entries',
    entries,
    '-of',
    'json',
    path,
  ]);
  expect(told.stderr).toBe('');
  const [stream] = JSON.parse(told.stdout).streams;
  expect(stream).toMatchObject({ codec_name: 'h264', profile: expect.stringMatching(/Baseline/) });
  expect([stream.width, stream.height, Number(stream.nb_read_frames), Number(stream.duration)]).toEqual([
    ...[widthPx, heightPx, FRAMES, 1],
  ]);
}
