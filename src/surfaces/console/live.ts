// Ticks for pages that are open: a stream says that something of the account has moved, and nothing else; the page is then fetched again.
// All streams of a process share one read a second.

import { readMarks } from '../../core/usage/marks.ts';
import type { Services } from '../../kit/services.ts';
import { commentText, eventText } from '../../lib/event-stream.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { principalOf } from '../../people/sessions/principal.ts';
import { findSessions, type Session } from '../../people/sessions/sessions.ts';

/** `beatMs`: of quiet. */
const intervals = { lookMs: 1_000, tickEveryMs: 2_000, beatMs: 15_000 };
/** A stream outlives its session, key or person by at most so many looks. */
const LOOKS_PER_CHECK = 5;

interface Listener {
  readonly accountId: string;
  readonly sessionId: string;
  /** What its page has shown. */
  mark: string;
  hasMoved: boolean;
  /** Nobody is to be told anything any more. */
  isOver: boolean;
  wake(): void;
}

interface Follower {
  readonly accountId: string;
  readonly sessionId: string;
  /** As its page was made. */
  readonly since: string;
}

export class LiveTicks {
  readonly #core: Services;
  /** What pages themselves call moves nothing that they show. */
  readonly #reads: readonly string[];
  readonly #listeners = new Set<Listener>();
  readonly #intervals: typeof intervals;
  #timer: NodeJS.Timeout | null = null;
  #looking = false;
  #looks = 0;

  constructor(core: Services, { capabilities }: Pick<Manifest, 'capabilities'>, other: Partial<typeof intervals> = {}) {
    this.#core = core;
    this.#intervals = { ...intervals, ...other };
    this.#reads = capabilities.filter(({ scope }) => scope === 'read').map(({ id }) => id);
  }

  /** What a page of the account is as new as, when its calls are made afterwards. */
  async mark(accountId: string): Promise<string> {
    return (await readMarks(this.#core.db, [accountId], this.#reads)).get(accountId) ?? '';
  }

  /** The stream of one page, until its session ends or `signal` is aborted; null: the process, the account or the session has too many. */
  follow({ since, ...of }: Follower, signal: AbortSignal): AsyncGenerator<string> | null {
    const { all, account } = this.#core.bounds;
    const ofAccount = [...this.#listeners].filter(({ accountId }) => accountId === of.accountId);
    const ofSession = ofAccount.filter(({ sessionId }) => sessionId === of.sessionId);
    if (this.#listeners.size >= all.liveStreams || ofAccount.length >= account.liveStreams) return null;
    if (ofSession.length >= all.liveStreamsOfSession) return null;
    const listener: Listener = { ...of, mark: since, hasMoved: false, isOver: signal.aborted, wake: () => undefined };
    // Its place is taken here: streams that are asked for at once do not all find the last one free.
    if (!listener.isOver) this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#leave(listener), { once: true });
    this.#start();
    return this.#ticksOf(listener);
  }

  async *#ticksOf(listener: Listener): AsyncGenerator<string> {
    const { tickEveryMs, beatMs: everyMs } = this.#intervals;
    try {
      yield commentText('ticks');
      let tickedMs = performance.now();
      let beatMs = tickedMs;
      while (!listener.isOver) {
        const nowMs = performance.now();
        const dueMs = listener.hasMoved ? tickedMs + tickEveryMs : beatMs + everyMs;
        if (nowMs < dueMs) {
          await waitForWake(listener, dueMs - nowMs);
          continue;
        }
        beatMs = nowMs;
        if (!listener.hasMoved) {
          yield commentText('still here');
          continue;
        }
        listener.hasMoved = false;
        tickedMs = nowMs;
        yield eventText({ data: 'moved' });
      }
    } finally {
      this.#leave(listener);
    }
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    listener.isOver = true;
    listener.wake();
  }

  #start(): void {
    this.#timer ??= setInterval(() => void this.#look(), this.#intervals.lookMs).unref();
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
        listener.hasMoved = true;
        listener.wake();
      }
      this.#looks += 1;
      if (this.#looks % LOOKS_PER_CHECK === 0) await this.#endSignedOut();
    } catch (error) {
      this.#core.log.warn({ err: error }, 'what moved could not be read for the pages that are open');
    } finally {
      this.#looking = false;
    }
  }

  /** Whose session has ended, or stands for nobody any more, is told nothing. */
  async #endSignedOut(): Promise<void> {
    const listeners = [...this.#listeners];
    const sessions = await findSessions(this.#core.db, [...new Set(listeners.map(({ sessionId }) => sessionId))]);
    const live = new Map<string, Session>();
    for (const session of sessions) if (await this.#hasPrincipal(session)) live.set(session.sessionId, session);
    for (const listener of listeners)
      if (live.get(listener.sessionId)?.accountId !== listener.accountId) this.#leave(listener);
  }

  async #hasPrincipal(session: Session): Promise<boolean> {
    const { kind, role } = session;
    if (kind === 'key') return typeof (await principalOf(this.#core, session)) !== 'string';
    return kind === 'operator' || role !== null;
  }
}

/** Until something is to be told, or so long. */
function waitForWake(listener: Listener, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    listener.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
