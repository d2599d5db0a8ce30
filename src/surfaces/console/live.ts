// Ticks for pages that are open: a stream says that something of the account has moved, and nothing else; the page is then fetched again.
// All streams of a process share one read a second.

import type { Core } from '../../core/context.ts';
import { findSessions } from '../../core/people/sessions/sessions.ts';
import { readMarks } from '../../core/usage/marks.ts';
import { commentText, eventText } from '../../lib/event-stream.ts';
import type { Manifest } from '../../manifest/manifest.ts';

const LOOK_MS = 1_000;
const TICK_EVERY_MS = 2_000;
const BEAT_MS = 15_000;

interface Listener {
  readonly accountId: string;
  readonly sessionId: string;
  /** What its page has shown. */
  mark: string;
  wake(): void;
}

interface Follower {
  readonly accountId: string;
  readonly sessionId: string;
  /** As its page was made. */
  readonly since: string;
}

export class LiveTicks {
  readonly #core: Core;
  /** What pages themselves call moves nothing that they show. */
  readonly #reads: readonly string[];
  readonly #listeners = new Set<Listener>();
  #timer: NodeJS.Timeout | null = null;
  #looking = false;

  constructor(core: Core, { capabilities }: Manifest) {
    this.#core = core;
    this.#reads = capabilities.filter(({ scope }) => scope === 'read').map(({ id }) => id);
  }

  /** Whether there is room for one more stream of the session. */
  hasRoomFor(sessionId: string): boolean {
    const { liveStreams, liveStreamsOfSession } = this.#core.bounds.all;
    if (this.#listeners.size >= liveStreams) return false;
    return [...this.#listeners].filter((each) => each.sessionId === sessionId).length < liveStreamsOfSession;
  }

  /** What a page of the account is as new as, when its calls are made afterwards. */
  async mark(accountId: string): Promise<string> {
    return (await readMarks(this.#core.db, [accountId], this.#reads)).get(accountId) ?? '';
  }

  /** The stream of one page, until its session ends or `signal` is aborted. */
  async *follow({ since, ...of }: Follower, signal: AbortSignal): AsyncGenerator<string> {
    let hasMoved = false;
    let wake: () => void = () => undefined;
    const listener = {
      ...of,
      mark: since,
      wake: () => {
        hasMoved = true;
        wake();
      },
    };
    this.#listeners.add(listener);
    this.#start();
    signal.addEventListener('abort', () => wake(), { once: true });
    try {
      yield commentText('ticks');
      let tickedMs = performance.now();
      let beatMs = tickedMs;
      while (!signal.aborted) {
        const nowMs = performance.now();
        const dueMs = hasMoved ? tickedMs + TICK_EVERY_MS : beatMs + BEAT_MS;
        if (nowMs < dueMs) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.min(dueMs - nowMs, BEAT_MS));
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
          continue;
        }
        beatMs = nowMs;
        if (hasMoved) {
          hasMoved = false;
          tickedMs = nowMs;
          yield eventText({ data: 'moved' });
        } else if (await this.#hasEnded(of)) return;
        else yield commentText('still here');
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  async #hasEnded({
    sessionId,
    accountId,
  }: {
    readonly accountId: string;
    readonly sessionId: string;
  }): Promise<boolean> {
    const [session] = await findSessions(this.#core.db, [sessionId]);
    return session?.accountId !== accountId;
  }

  #start(): void {
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    if (this.#listeners.size === 0) {
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#timer = null;
      return;
    }
    this.#looking = true;
    try {
      const accountIds = [...new Set([...this.#listeners].map(({ accountId }) => accountId))];
      const marks = await readMarks(this.#core.db, accountIds, this.#reads);
      for (const listener of this.#listeners) {
        const mark = marks.get(listener.accountId);
        if (mark === undefined || mark === listener.mark) continue;
        listener.mark = mark;
        listener.wake();
      }
    } catch (error) {
      this.#core.log.warn({ err: error }, 'what moved could not be read for the pages that are open');
    } finally {
      this.#looking = false;
    }
  }
}
