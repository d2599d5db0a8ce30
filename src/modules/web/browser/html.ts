// Takes the HTML of a page once its scripts have drawn it, open shadow roots included. What looks at the page runs in a world of its own, whose
// functions no script of the page can replace, and cuts the HTML before it leaves the browser.
import type { CDPSession, Page } from 'playwright-core';
import { WAIT_FOR_MS } from '../limits.ts';
import { LOAD_MS, waitForLoad } from './load.ts';
import type { Visit } from './visit.ts';
import type { Drawn } from './wire.ts';

/** A page that has asked for nothing for so long is drawn. */
const QUIET_MS = 500;
/** A page that never stops asking is taken as it is then. */
const QUIET_WAIT_MS = 5_000;
const LOOK_MS = 100;
const READ_MS = 10_000;
/** The page may lead on while it is looked at. */
const TRIES = 3;
const SHADOW_ROOTS_MAX = 2_000;

/** False: the element that is waited for did not come. */
export async function waitUntilDrawn(
  session: CDPSession,
  page: Page,
  visit: Visit,
  waitFor: string | null,
): Promise<boolean> {
  if (waitFor !== null) return waitForElement(session, page, waitFor);
  await waitForLoad(page, LOAD_MS);
  const loadedMs = performance.now();
  const quietMs = () => Math.min(visit.quietMs, performance.now() - loadedMs);
  while (quietMs() < QUIET_MS && performance.now() - loadedMs < QUIET_WAIT_MS) await page.waitForTimeout(LOOK_MS);
  return true;
}

async function waitForElement(session: CDPSession, page: Page, selector: string): Promise<boolean> {
  const begunMs = performance.now();
  while (performance.now() - begunMs < WAIT_FOR_MS) {
    if (await hasElement(session, page, selector)) return true;
    await page.waitForTimeout(LOOK_MS);
  }
  return false;
}

async function hasElement(session: CDPSession, page: Page, selector: string): Promise<boolean> {
  try {
    const { root } = await session.send('DOM.getDocument', { depth: 0 });
    return (await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })).nodeId !== 0;
  } catch (error) {
    // The document was replaced while it was asked.
    if (page.isClosed()) throw error;
    return false;
  }
}

export async function drawHtml(
  session: CDPSession,
  bytesMax: number,
): Promise<Omit<Drawn, 'url' | 'status' | 'hasCome'>> {
  const { html, isCut } = await readDocument(session, bytesMax);
  const bytes = new TextEncoder().encode(html);
  const kept = bytes.length > bytesMax ? bytes.slice(0, bytesMax) : bytes;
  return { kind: 'drawn', bytes: kept, truncated: isCut || kept.length < bytes.length };
}

interface Read {
  readonly html: string;
  readonly isCut: boolean;
}

async function readDocument(session: CDPSession, charactersMax: number): Promise<Read> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await readOnce(session, charactersMax);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function readOnce(session: CDPSession, charactersMax: number): Promise<Read> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = { frameId: frameTree.frame.id, worldName: 'quartermaster' };
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world);
  const expression = `(${documentText})(${charactersMax}, ${SHADOW_ROOTS_MAX})`;
  const call = { expression, contextId, returnByValue: true, timeout: READ_MS };
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', call);
  if (exceptionDetails !== undefined) throw new Error(`the page could not be read: ${exceptionDetails.text}`);
  return result.value as Read;
}

/** Runs in the browser; it knows nothing of this file. */
const documentText = `(charactersMax, rootsMax) => {
  const root = document.documentElement;
  if (root === null) return { html: '', isCut: false };
  const shadowRoots = [];
  collect(document);
  function collect(at) {
    for (const { shadowRoot } of at.querySelectorAll('*')) {
      if (shadowRoots.length >= rootsMax) return;
      if (!(shadowRoot instanceof ShadowRoot)) continue;
      shadowRoots.push(shadowRoot);
      collect(shadowRoot);
    }
  }
  const begin = root.cloneNode(false).outerHTML.replace(/<\\/html>$/, '');
  const inner = typeof root.getHTML === 'function' ? root.getHTML({ shadowRoots }) : root.innerHTML;
  const html = begin + inner;
  return { html: html.slice(0, charactersMax), isCut: html.length > charactersMax };
}`;
