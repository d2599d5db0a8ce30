// A page of another origin in a real Chromium, with the web build of pusher-js as it comes from a CDN.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { PusherBench } from './pusher-bench.ts';

const LIBRARY = join(import.meta.dirname, '../node_modules/pusher-js/dist/web/pusher.min.js');

let bench: PusherBench;
let chromium: TestBrowser;
let site: Server;
beforeAll(async () => {
  bench = await PusherBench.start();
  site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  chromium = await startBrowser();
});
afterAll(async () => {
  await chromium.close();
  site.close();
  await bench.stop();
});

test('a page subscribes, and hears what a server triggers', async () => {
  const page = await chromium.browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  await page.addScriptTag({ path: LIBRARY });
  const port = Number(new URL(bench.service.url).port);
  await page.evaluate(
    ({ key, wsPort }) => {
      const scope = globalThis as unknown as { Pusher: new (key: string, options: object) => Client; heard: unknown[] };
      interface Client {
        subscribe(channel: string): { bind(event: string, listener: (data: unknown) => void): void };
      }
      scope.heard = [];
      const options = { wsHost: '127.0.0.1', wsPort, forceTLS: false, cluster: '', enabledTransports: ['ws'] };
      const channel = new scope.Pusher(key, options).subscribe('news');
      channel.bind('pusher:subscription_succeeded', () => scope.heard.push('subscribed'));
      channel.bind('tick', (data) => scope.heard.push(data));
    },
    { key: bench.app.app_key, wsPort: port },
  );
  const heard = () => page.evaluate(() => (globalThis as unknown as { heard: unknown[] }).heard);
  await expect.poll(heard).toEqual(['subscribed']);
  await bench.server.trigger('news', 'tick', { n: 1 });
  await expect.poll(heard).toEqual(['subscribed', { n: 1 }]);
});
