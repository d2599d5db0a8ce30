// The browser engine: one Chromium for each document. Scripts are off, and the service fetches all that the document requests, through its
// guard.
import { PDFDocument } from '@cantoo/pdf-lib';
import type { BrowserContext } from 'playwright-core';
import {
  type AnswerRequest,
  BrowserTooLarge,
  guardedContext,
  isOfPage,
  withBrowser,
} from '../../../browser/browser.ts';
import { withBase } from './assets.ts';
import { marginLine, printHtml } from './print-html.ts';
import { Refused, tooManyPages } from './refused.ts';
import type { Ask, CreateTask, EngineAnswer } from './wire.ts';

const POINTS_PER_INCH = 72;
const LOAD_MS = 25_000;

export async function createInBrowser(
  task: CreateTask,
  chromiumPath: string,
  ask: Ask,
): Promise<Extract<EngineAnswer, { kind: 'made' }>> {
  const { browserFolder: folder, browserMb: memoryMb } = task;
  if (folder === null) throw new Error('a browser has no folder');
  const warnings = new Set<string>();
  const printed = await withBrowser({ chromiumPath, folder, memoryMb }, async (browser) =>
    print(await guardedContext(browser, { javaScriptEnabled: false }, answerBy(ask, warnings)), task),
  ).catch((error: Error) => {
    if (!(error instanceof BrowserTooLarge)) throw error;
    throw new Refused('content', 'too_complex', 'Its layout takes too much memory.');
  });
  const pages = (await PDFDocument.load(printed, { updateMetadata: false })).getPageCount();
  if (pages > task.pagesMax) throw tooManyPages('content', task.pagesMax);
  const file = { bytes: new Uint8Array(printed), pages };
  return { kind: 'made', files: [file], engine: 'browser', warnings: [...warnings] };
}

function answerBy(ask: Ask, warnings: Set<string>): AnswerRequest {
  return async (request) => {
    const url = request.url();
    if (isOfPage(request) || request.method() !== 'GET' || !/^https?:/i.test(url)) return null;
    const { bytes, contentType, message } = await ask({ url });
    if (bytes === null) {
      warnings.add(`It was left out (${url.slice(0, 80)}): ${message}.`);
      return null;
    }
    const headers = { 'access-control-allow-origin': '*', 'content-type': contentType ?? 'application/octet-stream' };
    return { status: 200, headers, bytes };
  };
}

async function print(context: BrowserContext, task: CreateTask): Promise<Buffer> {
  const { width, height, margins } = task.page;
  const inches = (points: number) => `${points / POINTS_PER_INCH}in`;
  const page = await context.newPage();
  await page.setContent(withBase(printHtml(task)), { waitUntil: 'load', timeout: LOAD_MS });
  return page.pdf({
    width: inches(width),
    height: inches(height),
    printBackground: true,
    tagged: true,
    scale: task.scale,
    margin: {
      top: inches(margins.top),
      right: inches(margins.right),
      bottom: inches(margins.bottom),
      left: inches(margins.left),
    },
    displayHeaderFooter: task.header !== null || task.footer !== null,
    headerTemplate: marginLine(task.header),
    footerTemplate: marginLine(task.footer),
  });
}
