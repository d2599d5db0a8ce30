// Runs one Chromium for one task, in a thread; no other file loads its library. The browser reaches no network: its proxy does not exist and no
// name resolves. Every request of its pages is passed to `answer`.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Request } from 'playwright-core';
import { watchMemory } from './processes.ts';

const LAUNCH_MS = 25_000;

/** What never asks to be routed, such as connections ahead of need, ends here. */
const NO_NETWORK = [
  '--proxy-server=http://nowhere.invalid:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--dns-prefetch-disable',
  '--disable-background-networking',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--renderer-process-limit=1',
];

export interface BrowserPlace {
  /** Of a Chromium or Chrome. */
  readonly chromiumPath: string;
  /** For all that it writes; whoever made it ends its processes and removes it. */
  readonly folder: string;
  /** All its processes together; on Linux. */
  readonly memoryMb: number;
}

/** It took more memory than it may, and was ended. */
export class BrowserTooLarge extends Error {}

/** The browser did not start: a matter of the machine, and not of a page. */
export class BrowserNotStarted extends Error {}

/** Throws BrowserNotStarted, BrowserTooLarge, and what `work` throws. */
export async function withBrowser<T>(place: BrowserPlace, work: (browser: Browser) => Promise<T>): Promise<T> {
  const { chromiumPath, folder, memoryMb } = place;
  const browser = await launch(chromiumPath, folder);
  const memory = watchMemory(folder, memoryMb);
  try {
    return await work(browser);
  } catch (error) {
    if (memory.isExceeded()) throw new BrowserTooLarge('the browser took too much memory', { cause: error });
    throw error;
  } finally {
    memory.stop();
    await browser.close().catch(() => undefined);
  }
}

async function launch(executablePath: string, folder: string): Promise<Browser> {
  // biome-ignore lint/style/noProcessEnv: of this thread alone; the library makes its folders where it says
  process.env.TMPDIR = folder;
  try {
    return await chromium.launch({
      executablePath,
      args: NO_NETWORK,
      timeout: LAUNCH_MS,
      // Root has no sandbox.
      chromiumSandbox: process.getuid?.() !== 0,
      env: { HOME: folder, TMPDIR: folder },
    });
  } catch (error) {
    throw new BrowserNotStarted('the browser did not start', { cause: error });
  }
}

export interface BrowserAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Null: the browser is told that the request failed. */
export type AnswerRequest = (request: Request) => Promise<BrowserAnswer | null>;

/** A context without downloads and service workers, all of whose requests are answered here. */
export async function guardedContext(
  browser: Browser,
  options: BrowserContextOptions,
  answer: AnswerRequest,
): Promise<BrowserContext> {
  const context = await browser.newContext({ ...options, serviceWorkers: 'block', acceptDownloads: false });
  await context.route('**/*', async (route) => {
    const answered = await answer(route.request());
    if (answered === null) return route.abort();
    const { status, headers, bytes } = answered;
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return route.fulfill({ status, headers: { ...headers }, body });
  });
  return context;
}

/** Whether a page itself is asked for, and not what stands in it. */
export function isOfPage(request: Request): boolean {
  return request.isNavigationRequest() && request.frame().parentFrame() === null;
}
