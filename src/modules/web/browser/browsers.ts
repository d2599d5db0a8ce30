// Pool of browser threads, for screenshots and for pages that scripts draw: a few at once, each in a browser of its own with a memory and time
// limit; accounts take turns.

import { inBrowserFolder } from '../../../browser/folder.ts';
import type { Perform, TaskPool } from '../../../core/account-threads.ts';
import type { Admission } from '../../../core/admission.ts';
import type { Services } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import type {
  AskSite,
  BrowserAnswer,
  BrowserTask,
  BrowserWish,
  Drawn,
  DrawWish,
  PageQuestion,
  PageWish,
  Shot,
  ShotWish,
  SiteAnswer,
} from './wire.ts';

/** Answers what a page asks for until the signal ends. */
type Requests = (signal: AbortSignal) => AskSite;

export class Browsers {
  readonly #rendering: Services['rendering'];
  readonly #log: Services['log'];
  readonly #threads: TaskPool<PageWish, BrowserAnswer, never, PageQuestion, SiteAnswer | null>;
  readonly #bounds: Admission['call']['shot'];

  constructor(core: Services, { browsers }: { readonly browsers: number }) {
    const { all, account, call } = core.bounds;
    this.#rendering = core.rendering;
    this.#log = core.log;
    const waiting = { max: all.shotsWaitingMax, perOwnerMax: account.shotsWaitingMax };
    this.#bounds = call.shot;
    const { browserMb: memoryMb } = call.shot;
    const { chromiumPath } = core.rendering;
    this.#threads = core.rendering.pool<PageWish, BrowserTask, BrowserAnswer, PageQuestion, SiteAnswer | null>({
      name: 'web.browser',
      source: new URL('./thread.ts', import.meta.url),
      bounds: { ...call.shot, threads: browsers, waiting },
      async complete(wish, perform) {
        if (chromiumPath === null) return { kind: 'answer', answer: NO_BROWSER };
        return inBrowserFolder('qm-web-', (folder) => perform({ ...wish, chromiumPath, folder, memoryMb }));
      },
    });
  }

  get isThere(): boolean {
    return this.#rendering.hasBrowser;
  }

  /** Throws VENDOR_NOT_AVAILABLE where the service has no browser. */
  requireBrowser(): void {
    if (!this.isThere) throw noBrowser('This service has no browser: its operator sets CHROMIUM_PATH.');
  }

  /** Throws what `show` does. */
  async shoot(
    accountId: string,
    page: SiteAnswer,
    wish: ShotWish,
    signal: AbortSignal,
    requests: Requests,
  ): Promise<Shot> {
    const shot = await this.#show(accountId, page, { make: 'shot', ...wish }, signal, requests);
    if (shot.kind !== 'shot') throw new Error(`a browser that was to take a picture answered ${shot.kind}`);
    return shot;
  }

  /** Throws what `show` does. */
  async draw(
    accountId: string,
    page: SiteAnswer,
    wish: DrawWish,
    signal: AbortSignal,
    requests: Requests,
  ): Promise<Drawn> {
    const drawn = await this.#show(accountId, page, { make: 'html', ...wish }, signal, requests);
    if (drawn.kind !== 'drawn') throw new Error(`a browser that was to draw a page answered ${drawn.kind}`);
    return drawn;
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  /**
   * Throws VALIDATION_FAILED of `url` for what cannot be shown, takes too long or too much memory; VENDOR_NOT_AVAILABLE; CONCURRENCY_LIMITED and
   * OVERLOADED when too many wait.
   */
  #show(
    accountId: string,
    page: SiteAnswer,
    wish: BrowserWish,
    signal: AbortSignal,
    requests: Requests,
  ): Promise<Shot | Drawn> {
    this.requireBrowser();
    return this.#threads.run(accountId, signal, async (perform) => {
      const answer = await this.#within({ wish, page }, signal, requests, perform);
      if (answer.kind === 'shot' || answer.kind === 'drawn') return answer;
      if (answer.kind === 'refused') throw invalidField('url', answer.rule, answer.message);
      this.#log.error({ reason: answer.message }, 'the browser for web pages does not start');
      throw noBrowser('The browser of this service does not start.');
    });
  }

  async #within(
    task: PageWish,
    signal: AbortSignal,
    requests: Requests,
    perform: Perform<PageWish, BrowserAnswer, never, PageQuestion, SiteAnswer | null>,
  ): Promise<BrowserAnswer> {
    const ended = new AbortController();
    try {
      const done = await perform(task, { talk: { onAsk: requests(AbortSignal.any([signal, ended.signal])) } });
      if (done.kind === 'answer') return done.answer;
      const why = done.kind === 'late' ? `longer than ${this.#bounds.msMax / 1_000} s` : 'too much memory';
      return { kind: 'refused', rule: 'too_complex', message: `To show the page takes ${why}.` };
    } finally {
      // What the page still asks for, nobody waits for.
      ended.abort();
    }
  }
}

const NO_BROWSER = { kind: 'not_started', message: 'CHROMIUM_PATH is not set where pages are rendered' } as const;

const noBrowser = (message: string) => problem('VENDOR_NOT_AVAILABLE', { detail: 'no_browser', message });
