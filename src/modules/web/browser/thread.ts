// Thread of one browser; its library is loaded only here. A hostile page can end only this thread and its browser, which have a memory and
// time limit.
import { getPriority, setPriority } from 'node:os';
import { BrowserNotStarted, BrowserTooLarge } from '../../../browser/browser.ts';
import { serve } from '../../../lib/threads.ts';
import { showPage } from './show.ts';
import type { BrowserAnswer, BrowserTask, PageQuestion, SiteAnswer } from './wire.ts';

/** Calls go first: on Linux this concerns the thread and its browser alone. */
const NICENESS = 10;
if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS);

serve<BrowserTask, BrowserAnswer, never, PageQuestion, SiteAnswer | null>(
  async (task, { ask }) => {
    try {
      return await showPage(task, ask);
    } catch (error) {
      return failure(error as Error);
    }
  },
  (answer) => ('bytes' in answer ? [answer.bytes.buffer] : []),
);

/** What fails once the browser has started is the page's doing: it may crash, and leave, at any time. */
function failure(error: Error): BrowserAnswer {
  if (error instanceof BrowserNotStarted) return { kind: 'not_started', message: String(error.cause) };
  if (error instanceof BrowserTooLarge)
    return { kind: 'refused', rule: 'too_complex', message: 'The page takes too much memory.' };
  return { kind: 'refused', rule: 'not_shown', message: 'The browser could not show the page.' };
}
