// The browser engine: a Chromium for one document. Scripts are off, and the browser itself reaches no network: it has a proxy that does not
// exist, and all that it asks for is fetched by the service, through its guard.
import { PDFDocument } from '@cantoo/pdf-lib';
import { type BrowserContext, chromium, type Route } from 'playwright-core';
import { withBase } from './assets.ts';
import { watchMemory } from './browser-processes.ts';
import { marginLine, printHtml } from './print-html.ts';
import { Refused, tooManyPages } from './refused.ts';
import type { Ask, CreateTask, EngineAnswer } from './wire.ts';

const POINTS_PER_INCH = 72;
const LOAD_MS = 25_000;

/** What never asks to be routed, such as connections ahead of need, ends here. */
const NO_NETWORK = [
  '--proxy-server=http://nowhere.invalid:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--dns-prefetch-disable',
  '--disable-background-networking',
  '--renderer-process-limit=1',
];

export async function createInBrowser(
  task: CreateTask,
  chromiumPath: string,
  ask: Ask,
): Promise<Extract<EngineAnswer, { kind: 'made' }>> {
  const folder = task.browserFolder;
  if (folder === null) throw new Error('a browser has no folder');
  // biome-ignore lint/style/noProcessEnv: of this thread alone; the library makes its folders where it says
  process.env.TMPDIR = folder;
  const browser = await chromium.launch({
    ...{ executablePath: chromiumPath, args: NO_NETWORK, timeout: LOAD_MS },
    // Root has no sandbox.
    chromiumSandbox: process.getuid?.() !== 0,
    env: { HOME: folder, TMPDIR: folder },
  });
  const memory = watchMemory(folder, task.browserMb);
  try {
    const warnings = new Set<string>();
    const context = await browser.newContext({
      javaScriptEnabled: false,
      serviceWorkers: 'block',
      acceptDownloads: false,
    });
    await guard(context, ask, warnings);
    const printed = await print(context, task);
    const pages = (await PDFDocument.load(printed, { updateMetadata: false })).getPageCount();
    if (pages > task.pagesMax) throw tooManyPages('content', task.pagesMax);
    const file = { bytes: new Uint8Array(printed), pages };
    return { kind: 'made', files: [file], engine: 'browser', warnings: [...warnings] };
  } catch (error) {
    if (memory.isExceeded()) throw new Refused('content', 'too_complex', 'Its layout takes too much memory.');
    throw error;
  } finally {
    memory.stop();
    await browser.close().catch(() => undefined);
  }
}

async function guard(context: BrowserContext, ask: Ask, warnings: Set<string>): Promise<void> {
  await context.route('**/*', async (route: Route) => {
    const request = route.request();
    const url = request.url();
    const isPage = request.isNavigationRequest() && request.frame().parentFrame() === null;
    if (isPage || request.method() !== 'GET' || !/^https?:/i.test(url)) return route.abort();
    const { bytes, contentType, message } = await ask({ url });
    if (bytes === null) {
      warnings.add(`It was left out (${url.slice(0, 80)}): ${message}.`);
      return route.abort();
    }
    const headers = { 'access-control-allow-origin': '*', 'content-type': contentType ?? 'application/octet-stream' };
    return route.fulfill({ status: 200, headers, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) });
  });
}

async function print(context: BrowserContext, task: CreateTask): Promise<Buffer> {
  const { width, height, margins } = task.page;
  const inches = (points: number) => `${points / POINTS_PER_INCH}in`;
  const page = await context.newPage();
  await page.setContent(withBase(printHtml(task)), { waitUntil: 'load', timeout: LOAD_MS });
  return page.pdf({
    ...{ width: inches(width), height: inches(height), printBackground: true, tagged: true, scale: task.scale },
    margin: {
      ...{ top: inches(margins.top), right: inches(margins.right) },
      ...{ bottom: inches(margins.bottom), left: inches(margins.left) },
    },
    displayHeaderFooter: task.header !== null || task.footer !== null,
    headerTemplate: marginLine(task.header),
    footerTemplate: marginLine(task.footer),
  });
}
