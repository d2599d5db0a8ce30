// A site of hostile pages, a trap that nobody may reach, and a service with one browser that shows them.
import { execFileSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Site, startSite } from '../support/site.ts';
import { ScreenshotBench } from './screenshot-bench.ts';

/** Of a page in the browser. */
export const BOUND_MS = 15_000;
/** To fetch the page, to begin a browser and to end it, on a busy machine. */
export const BESIDE_MS = 20_000;

interface Held {
  readonly traps: readonly [Server, ...Server[]];
  readonly datagrams: Socket;
  readonly other: Site;
}

export class BrowserTrap {
  readonly site: Site;
  readonly bench: ScreenshotBench;
  /** Pages below /page by their address, and the one at /endless. */
  readonly pages: Map<string, string>;
  /** What came to the trap. */
  readonly reached: readonly string[];
  readonly #all: Held;
  readonly #folder: string;

  private constructor(
    { site, bench, pages, reached }: Pick<BrowserTrap, 'site' | 'bench' | 'pages' | 'reached'>,
    all: Held,
    folder: string,
  ) {
    this.site = site;
    this.bench = bench;
    this.pages = pages;
    this.reached = reached;
    this.#all = all;
    this.#folder = folder;
  }

  static async start(): Promise<BrowserTrap> {
    const reached: string[] = [];
    const pages = new Map<string, string>();
    const caught = (at: string) =>
      createServer((socket) => {
        reached.push(at);
        socket.on('error', () => undefined).destroy();
      });
    const trap = await listening(caught('127.0.0.1'), '127.0.0.1', 0);
    const { port } = trap.address() as AddressInfo;
    const traps = [trap, await listening(caught('::1'), '::1', port)] as const;
    const datagrams = createSocket('udp4', () => reached.push('udp'));
    await new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve));
    const folder = await mkdtemp(join(tmpdir(), 'qm-file-'));
    writeFileSync(join(folder, 'red.html'), '<body style="background:#f00">the file of this machine');
    const other = await startSite({ '/': '<title>Other</title>', '/inside': 'private' }, '127.77.0.2');
    const site = await startSite(hostilePages(`127.0.0.1:${port}`, pages));
    const bench = await ScreenshotBench.start({
      env: { WEB_BROWSERS: '1', WEB_HOST_INTERVAL_MS: '100' },
      admission: { call: { shot: { msMax: BOUND_MS, heapMb: 256, outsideHeapMb: 256, browserMb: 1_024 } } },
    });
    return new BrowserTrap({ site, bench, pages, reached }, { traps, datagrams, other }, folder);
  }

  get port(): number {
    return (this.#all.traps[0].address() as AddressInfo).port;
  }

  get udpPort(): number {
    return this.#all.datagrams.address().port;
  }

  get file(): string {
    return join(this.#folder, 'red.html');
  }

  /** Forgets what came. */
  clear(): void {
    (this.reached as string[]).length = 0;
  }

  async stop(): Promise<void> {
    await this.bench.service.stop();
    await Promise.all([this.site.stop(), this.#all.other.stop(), rm(this.#folder, { recursive: true })]);
    for (const server of this.#all.traps) server.close();
    this.#all.datagrams.close();
  }
}

/** Command lines of browsers that run for pages. */
export function browsers(): string[] {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes('qm-web-'));
}

/** Every process and every folder goes with its page. */
export async function expectNothingLeft(): Promise<void> {
  await expect.poll(browsers).toEqual([]);
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('qm-web-'));
  await expect.poll(folders).toEqual([]);
}

function hostilePages(trap: string, pages: ReadonlyMap<string, string>): Parameters<typeof startSite>[0] {
  const to = (location: string) => (_: unknown, response: ServerResponse) =>
    void response.writeHead(302, { location }).end();
  const html = { 'content-type': 'text/html' };
  return {
    '/page': (asked, response) => void response.writeHead(200, html).end(pages.get(asked.url ?? '')),
    '/endless': (asked, response) => void response.writeHead(200, html).end(pages.get('endless') ?? asked.url),
    '/to-trap': to(`http://${trap}/redirected`),
    '/trap-at-once': to(`http://${trap}/at-once`),
    '/refresh': `<title>Stays</title><meta http-equiv=refresh content="0;url=http://${trap}/refresh">`,
    '/location': `<title>Stays</title><script>location.replace('http://${trap}/location')</script>`,
    '/download': `<a id=down href="http://${trap}/download" download>x</a><script>down.click()</script>`,
    '/tried': 'noted',
    '/led': 'led',
    '/never': () => undefined,
    '/worker.js': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`fetch('http://${trap}/worker')`),
  };
}

function listening(server: Server, host: string, port: number): Promise<Server> {
  return new Promise((resolve) => server.listen(port, host, () => resolve(server)));
}
