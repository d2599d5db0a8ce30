// One page in a browser, and what it asks for: GET requests of its own, which the service answers. Further windows get nothing.
import type { Page, Request } from 'playwright-core';
import { isOfPage } from '../../../browser/browser.ts';
import type { AskSite, SiteAnswer } from './wire.ts';

export class Visit {
  /** The page that was answered last. */
  shown: SiteAnswer;
  page: Page | null = null;
  readonly #ask: AskSite;
  #hasBegun = false;
  #open = 0;
  #changedMs = performance.now();

  constructor(first: SiteAnswer, ask: AskSite) {
    this.shown = first;
    this.#ask = ask;
  }

  /** For how long the page has waited for nothing that it asked for. */
  get quietMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#changedMs;
  }

  readonly answer = async (request: Request): Promise<SiteAnswer | null> => {
    const url = request.url();
    if (request.method() !== 'GET' || !/^https?:/i.test(url) || !this.#isOwn(request)) return null;
    const isPage = isOfPage(request);
    if (isPage && !this.#hasBegun) {
      this.#hasBegun = true;
      return this.shown;
    }
    const answered = await this.#askSite({ url, isPage, origin: request.headers().origin ?? null });
    if (isPage && answered !== null) this.shown = answered;
    return answered;
  };

  async #askSite(question: Parameters<AskSite>[0]): Promise<SiteAnswer | null> {
    this.#open += 1;
    try {
      return await this.#ask(question);
    } finally {
      this.#open -= 1;
      this.#changedMs = performance.now();
    }
  }

  /** Not of a further window, which has no frame yet when it asks. */
  #isOwn(request: Request): boolean {
    try {
      return request.frame().page() === this.page;
    } catch {
      return false;
    }
  }
}
