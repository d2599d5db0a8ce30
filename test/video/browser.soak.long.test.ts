// A video as a browser gets it: from another origin, by its link, in parts.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { VideoBench } from './harness.ts';

let bench: VideoBench;
let pages: Server;
let chromium: TestBrowser;
beforeAll(async () => {
  bench = await VideoBench.start();
  pages = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>A page elsewhere</title><video muted></video>');
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  chromium = await startBrowser();
});
afterAll(async () => {
  await chromium.close();
  pages.close();
  await bench.service.stop();
});

test('plays and is sought where the browser knows H.264; everywhere its parts come across origins', async () => {
  const job = await bench.ended((await bench.generate({ duration_seconds: 4 })).job_id);
  const page = await chromium.browser.newPage();
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
  const part = await page.evaluate(async (url) => {
    const reply = await fetch(url, { headers: { range: 'bytes=100-199' } });
    const { byteLength } = await reply.arrayBuffer();
    return [reply.status, byteLength, reply.headers.get('content-range'), reply.headers.get('etag') !== null];
  }, job.video_url);
  expect(part).toEqual([206, 100, `bytes 100-199/${job.size_bytes}`, true]);
  const canPlay = await page.evaluate(() =>
    document.createElement('video').canPlayType('video/mp4; codecs="avc1.42E01F"'),
  );
  console.log(`this Chromium says of H.264: ${canPlay === '' ? 'no' : canPlay}`);
  if (canPlay === '') return;
  const played = await page.evaluate(async (url) => {
    const video = document.querySelector('video') as HTMLVideoElement;
    const next = (name: string) => new Promise((resolve) => video.addEventListener(name, resolve, { once: true }));
    video.crossOrigin = 'anonymous';
    video.src = url;
    await next('loadedmetadata');
    video.currentTime = 2;
    await next('seeked');
    await video.play();
    await next('timeupdate');
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: 64, height: 36 });
    const drawing = canvas.getContext('2d') as CanvasRenderingContext2D;
    drawing.drawImage(video, 0, 0, 64, 36);
    const colours = new Set(new Uint32Array(drawing.getImageData(0, 0, 64, 36).data.buffer)).size;
    return {
      width: video.videoWidth,
      height: video.videoHeight,
      seconds: video.duration,
      at: video.currentTime,
      colours,
    };
  }, job.video_url);
  expect(played).toMatchObject({ width: 1_280, height: 720, seconds: expect.closeTo(4, 2) });
  expect(played.at).toBeGreaterThanOrEqual(2);
  expect(played.colours).toBeGreaterThan(1);
});
