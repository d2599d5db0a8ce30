// Two pages in Chromium, as the example has them, join one room: each gets the other's picture, without a server for media.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let example: ChildProcess;
let context: BrowserContext;
let url: string;
const faults: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  const { secret } = await createTestAccount(service.core, 5);
  const env = { PATH: process.env.PATH, QM_URL: service.url, QM_KEY: secret, PORT: '0' };
  example = spawn(process.execPath, [join(PROJECT, 'examples/call/serve.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await once(example.stdout as NodeJS.ReadableStream, 'data');
  url = String(printed).trim();
  chromium = await startBrowser(['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']);
  context = await chromium.browser.newContext({ permissions: ['camera', 'microphone'] });
});
afterAll(async () => {
  await chromium.close();
  example.kill();
  await service.stop();
});

async function open(me: string): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${me}: ${error.message}`));
  await page.goto(`${url}?me=${me}`);
  return page;
}

/** Waits until the picture of the other one moves: frames arrive. */
async function sees(page: Page, other: string): Promise<void> {
  const plays = (id: string) => {
    const video = document.getElementById(id) as HTMLVideoElement | null;
    return (video?.getVideoPlaybackQuality().totalVideoFrames ?? 0) > 5 && (video?.videoWidth ?? 0) > 0;
  };
  await page.waitForFunction(plays, other, { timeout: 60_000 });
}

test('three people join, see one another, and one leaves', async () => {
  const [ana, ben] = await Promise.all([open('ana'), open('ben')]);
  await Promise.all([sees(ana, 'ben'), sees(ben, 'ana')]);
  const cleo = await open('cleo');
  await Promise.all([sees(cleo, 'ana'), sees(cleo, 'ben'), sees(ana, 'cleo'), sees(ben, 'cleo')]);
  await cleo.close();
  await Promise.all([ana, ben].map((page) => page.waitForSelector('#cleo', { state: 'detached', timeout: 60_000 })));
  expect(await ana.locator('video').count()).toBe(2);
  expect(faults).toEqual([]);
}, 180_000);
