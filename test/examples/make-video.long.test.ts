// The example as its README runs it: both videos are there, and the second is the longer one.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';
import { inspect } from '../video/sample.ts';

let place: Place;
let folder: string;
beforeAll(async () => {
  place = await createPlace();
  await startProcess(place);
  folder = mkdtempSync(join(tmpdir(), 'quartermaster-video-'));
});
afterAll(async () => {
  await place?.remove();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

test('a video of three shots, and the same with a fourth', async () => {
  const env = { PATH: process.env.PATH ?? '', QM_URL: place.url, QM_KEY: place.operatorKey() };
  const program = join(PROJECT, 'examples/make-video/video.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, folder], { env });
  expect(stdout).toContain('boat.mp4: 0.006 USD');
  expect(stdout).toContain('boat-longer.mp4: 0.003 USD');
  expect(await inspect(readFileSync(join(folder, 'boat.mp4')))).toMatchObject({ seconds: 6, frames: 144 });
  expect(await inspect(readFileSync(join(folder, 'boat-longer.mp4')))).toMatchObject({ seconds: 9, frames: 216 });
});
