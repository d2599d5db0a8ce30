// Reads a page as its site sent it, or as its scripts draw it in a browser. With `auto` the page is read first, and drawn when its text is empty
// beside its scripts; what cannot be drawn is then answered as it was sent, and says why.

import { Problem } from '../../../problems/problem.ts';
import { PageRequests, siteAnswer } from '../browser/page-requests.ts';
import { PAGE_BYTES_MAX } from '../limits.ts';
import { kindOf } from '../read/bytes.ts';
import { Refused } from '../read/refused.ts';
import type { WebState } from '../state.ts';
import { getPage, type Page, type PageWish, readGot } from './page.ts';
import type { GetOptions, Got } from './request.ts';

export const RENDER_MODES = ['auto', 'always', 'never'] as const;
export type RenderMode = (typeof RENDER_MODES)[number];

export interface RenderWish {
  readonly render: RenderMode;
  /** A selector of an element that is waited for; `auto` draws a page then. */
  readonly waitFor: string | null;
}

export type RenderError = 'no_browser' | 'too_complex' | 'not_shown' | 'unsupported_type' | 'wait_for_timeout';

/** What a page was read from, once more if need be. */
export interface Source {
  readonly got: Got;
  readonly isDrawn: boolean;
  readonly renderError: RenderError | null;
}

export type RenderedPage = Page & Pick<Source, 'renderError'> & { readonly rendered: boolean };

const HTML = 'text/html; charset=utf-8';
/** Of failures of one page, which `auto` answers as it was sent. */
const OF_PAGE: ReadonlySet<string> = new Set(['too_complex', 'not_shown', 'unsupported_type', 'no_browser']);

interface Options extends Pick<GetOptions, 'signal' | 'hold'> {
  /** Asked before a browser is; what it throws ends the reading. */
  readonly beforeDraw?: () => Promise<void>;
}

/** Throws what `getPage` and `readGot` do, and VENDOR_NOT_AVAILABLE for `always` where the service has no browser. */
export async function readRendered(
  web: WebState,
  accountId: string,
  wish: PageWish & RenderWish,
  options: Options,
): Promise<RenderedPage> {
  return (await readWithSource(web, accountId, wish, options)).page;
}

interface ReadFrom {
  readonly page: RenderedPage;
  readonly source: Source;
}

/** The same, with what it was read from. */
export async function readWithSource(
  web: WebState,
  accountId: string,
  wish: PageWish & RenderWish,
  options: Options,
): Promise<ReadFrom> {
  const { url, render, waitFor } = wish;
  if (render === 'always') web.browsers.requireBrowser();
  const got = await getPage(web, accountId, url, options.signal, options.hold);
  const readFrom = async (source: Source): Promise<ReadFrom> => ({
    page: await readSource(web, accountId, source, wish, options),
    source,
  });
  const sent: Source = { got, isDrawn: false, renderError: null };
  if (render === 'never' || !isHtml(got)) return readFrom(sent);
  const drawAndRead = async () => readFrom(await draw(web, accountId, got, wish, options));
  if (render === 'always') return drawAndRead();
  const read = waitFor === null ? await readFrom(sent) : null;
  if (read?.page.isShell === false) return read;
  try {
    return await drawAndRead();
  } catch (error) {
    const renderError = renderErrorOf(error);
    if (renderError === null) throw error;
    const { page, source } = read ?? (await readFrom(sent));
    return { page: { ...page, renderError }, source: { ...source, renderError } };
  }
}

/** Reads a source, which can be read again: the thread takes a copy. */
export async function readSource(
  web: WebState,
  accountId: string,
  { got, isDrawn, renderError }: Source,
  wish: PageWish,
  { signal, hold }: Options,
): Promise<RenderedPage> {
  hold?.(got.bytes.length);
  const page = await readGot(web, accountId, { ...got, bytes: Buffer.from(got.bytes) }, { ...wish, isDrawn }, signal);
  return { ...page, rendered: isDrawn, renderError };
}

/** Null: no failure of the page, such as too many calls that wait for a browser. */
function renderErrorOf(error: unknown): RenderError | null {
  if (!(error instanceof Problem) || error.detail === undefined || !OF_PAGE.has(error.detail)) return null;
  return error.code === 'VALIDATION_FAILED' || error.code === 'VENDOR_NOT_AVAILABLE'
    ? (error.detail as RenderError)
    : null;
}

async function draw(
  web: WebState,
  accountId: string,
  got: Got,
  { waitFor }: RenderWish,
  { signal, hold, beforeDraw }: Options,
): Promise<Source> {
  await beforeDraw?.();
  const holding = hold === undefined ? {} : { hold };
  const wish = { waitFor, bytesMax: PAGE_BYTES_MAX };
  const { bytes, url, status, truncated, hasCome } = await web.browsers.draw(
    accountId,
    siteAnswer(got),
    wish,
    signal,
    (ends) => {
      const requests = new PageRequests(web, accountId, got, { signal: ends, ...holding });
      return (question) => requests.answer(question);
    },
  );
  hold?.(bytes.length);
  const drawn = { ...got, url, status, contentType: HTML, bytes: Buffer.from(bytes.buffer), truncated };
  return { got: drawn, isDrawn: true, renderError: hasCome ? null : 'wait_for_timeout' };
}

function isHtml({ contentType, bytes }: Got): boolean {
  try {
    return kindOf(contentType, bytes) === 'html';
  } catch (error) {
    // Who reads it says so.
    if (error instanceof Refused) return false;
    throw error;
  }
}
