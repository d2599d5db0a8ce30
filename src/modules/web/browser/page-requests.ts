// Network requests of one page, by the guarded GET: a few at once, within a number and a sum of bytes. A page that it leads to obeys robots.txt
// and waits for its host's slot. A public page reaches only public hosts: networks that the operator exempts are for callers to name, not for
// pages.
import pLimit from 'p-limit';
import { Problem } from '../../../problems/problem.ts';
import { getPolitely } from '../fetch/page.ts';
import { type GetOptions, type Got, get } from '../fetch/request.ts';
import {
  BROWSER_BYTES_MAX,
  BROWSER_PAGES_MAX,
  BROWSER_REQUEST_BYTES_MAX,
  BROWSER_REQUESTS_AT_ONCE,
  BROWSER_REQUESTS_MAX,
} from '../limits.ts';
import type { WebState } from '../state.ts';
import type { PageQuestion, SiteAnswer } from './wire.ts';

/** What the browser is told of an answer; cookies, policies and preloads of the site are not. */
const PASSED = ['content-type', 'access-control-allow-origin', 'x-content-type-options'] as const;

export class PageRequests {
  readonly #web: WebState;
  readonly #accountId: string;
  readonly #isPublicOnly: boolean;
  readonly #options: Pick<GetOptions, 'signal' | 'hold'>;
  readonly #limit = pLimit(BROWSER_REQUESTS_AT_ONCE);
  #requestsLeft = BROWSER_REQUESTS_MAX;
  #pagesLeft = BROWSER_PAGES_MAX;
  #bytesLeft: number;

  /** `first`: the page itself. */
  constructor(web: WebState, accountId: string, first: Got, options: Pick<GetOptions, 'signal' | 'hold'>) {
    this.#web = web;
    this.#accountId = accountId;
    this.#isPublicOnly = !first.isExempt;
    this.#options = options;
    this.#bytesLeft = BROWSER_BYTES_MAX - first.bytes.length;
  }

  /** Null for what is refused, fails or is too much. */
  async answer(question: PageQuestion): Promise<SiteAnswer | null> {
    this.#requestsLeft -= 1;
    if (question.isPage) this.#pagesLeft -= 1;
    if (this.#requestsLeft < 0 || this.#pagesLeft < 0) return null;
    return this.#limit(() => this.#get(question));
  }

  async #get({ url, isPage, origin }: PageQuestion): Promise<SiteAnswer | null> {
    const bytesMax = Math.min(BROWSER_REQUEST_BYTES_MAX, this.#bytesLeft);
    const { signal } = this.#options;
    if (bytesMax <= 0 || signal.aborted) return null;
    const wish = { ...this.#options, bytesMax, isPublicOnly: this.#isPublicOnly };
    const { core, userAgent } = this.#web;
    try {
      const got = isPage
        ? await getPolitely(this.#web, this.#accountId, url, wish)
        : await get(core, url, { ...wish, userAgent, headers: origin === null ? {} : { origin } });
      this.#bytesLeft -= got.bytes.length;
      return this.#bytesLeft < 0 || (got.truncated && !isPage) ? null : siteAnswer(got);
    } catch (error) {
      if (error instanceof Problem || signal.aborted) return null;
      throw error;
    }
  }
}

export function siteAnswer({ url, status, headers, bytes }: Got): SiteAnswer {
  const passed = PASSED.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { url, status, headers: Object.fromEntries(passed), bytes };
}
