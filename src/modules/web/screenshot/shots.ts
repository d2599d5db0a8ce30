// Where screenshots are taken: a few at once, each in a browser of its own with a bound of memory and time, in turns by account.
import { AccountPlaces } from '../../../core/account-places.ts';
import type { Admission } from '../../../core/admission.ts';
import { inBrowserFolder } from '../../../core/browser/folder.ts';
import type { Core } from '../../../core/context.ts';
import { Threads } from '../../../lib/threads.ts';
import { invalidField } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import type { AskSite, Shot, ShotAnswer, ShotQuestion, ShotTask, ShotWish, SiteAnswer } from './wire.ts';

export class Shots {
  readonly #chromiumPath: string | null;
  readonly #log: Core['log'];
  readonly #places: AccountPlaces;
  readonly #threads: Threads<ShotTask, ShotAnswer, never, ShotQuestion, SiteAnswer | null>;
  readonly #bounds: Admission['call']['shot'];

  constructor(core: Core, { browsers }: { readonly browsers: number }) {
    const { all, account, call } = core.bounds;
    this.#chromiumPath = core.chromiumPath;
    this.#log = core.log;
    this.#places = new AccountPlaces(browsers, {
      ...{ max: all.shotsWaitingMax, perOwnerMax: account.shotsWaitingMax },
    });
    this.#bounds = call.shot;
    this.#threads = new Threads(new URL('./thread.ts', import.meta.url), call.shot);
  }

  /** Throws VENDOR_NOT_AVAILABLE where the service has no browser. */
  requireBrowser(): string {
    if (this.#chromiumPath !== null) return this.#chromiumPath;
    throw noBrowser('This service has no browser: its operator sets CHROMIUM_PATH.');
  }

  /**
   * `requests`: answers what the page asks for until `signal` ends. Throws VALIDATION_FAILED of `url` for what cannot be shown, takes too long or
   * too much memory; VENDOR_NOT_AVAILABLE; CONCURRENCY_LIMITED and OVERLOADED when too many wait.
   */
  take(
    accountId: string,
    page: SiteAnswer,
    wish: ShotWish,
    signal: AbortSignal,
    requests: (signal: AbortSignal) => AskSite,
  ): Promise<Shot> {
    const chromiumPath = this.requireBrowser();
    return this.#places.run(accountId, signal, () =>
      inBrowserFolder('qm-shot-', async (folder) => {
        const task = { ...wish, page, chromiumPath, folder, memoryMb: this.#bounds.browserMb };
        const answer = await this.#within(task, signal, requests);
        if (answer.kind === 'shot') return answer;
        if (answer.kind === 'refused') throw invalidField('url', answer.rule, answer.message);
        this.#log.error({ reason: answer.message }, 'the browser for screenshots does not start');
        throw noBrowser('The browser of this service does not start.');
      }),
    );
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #within(task: ShotTask, signal: AbortSignal, requests: (signal: AbortSignal) => AskSite): Promise<ShotAnswer> {
    const ended = new AbortController();
    const late = AbortSignal.timeout(this.#bounds.msMax);
    const all = AbortSignal.any([signal, late, ended.signal]);
    try {
      const answer = await this.#threads.run(task, all, { onAsk: requests(all) });
      signal.throwIfAborted();
      if (answer !== null) return answer;
      const why = late.aborted ? `longer than ${this.#bounds.msMax / 1_000} s` : 'too much memory';
      return { kind: 'refused', rule: 'too_complex', message: `To show the page takes ${why}.` };
    } finally {
      // What the page still asks for, nobody waits for.
      ended.abort();
    }
  }
}

const noBrowser = (message: string) => problem('VENDOR_NOT_AVAILABLE', { detail: 'no_browser', message });
