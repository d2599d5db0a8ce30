// One active request: its IDs, the resources it occupies, and notification when its client disconnects. A call is one; so is a request of a
// protocol that makes calls of its own.
import type { EntryForm } from '../core/callers/entry-form.ts';
import { newId } from '../lib/ids.ts';
import { disconnectedProblem } from '../problems/disconnected.ts';
import { traceparentOf } from './trace-context.ts';

/** What a surface knows of a request before anything is looked at: how it came in, and how to hear that its caller has left. */
export interface Origin {
  readonly entryForm: EntryForm;
  readonly traceId: string;
  /** Absent: it did not come by a request of its own. */
  readonly sender?: Sender | null;
  /** Calls `listener` once, when the caller goes away before the answer. */
  onGone(listener: () => void): void;
}

/** The request that a call came by. */
export interface Sender {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly remoteAddress: string;
  /** As announced; null: nothing is. */
  readonly bodyBytes: number | null;
  /** The header of that name, as it was sent. */
  readonly traceparent?: unknown;
}

/** What the call may do with its place among those that run. */
export interface AnsweringPlace {
  idle(): void;
  make(bytes: number): void;
  countMade(bytes: number): void;
  requireRoom(): void;
}

export class ActiveRequest {
  readonly entryForm: EntryForm;
  readonly startedMs = performance.now();
  readonly requestId = newId('req_');
  readonly traceId: string;
  readonly warnings: string[] = [];
  /** Headers of its answer beyond the common ones. */
  readonly headers: Record<string, string> = {};
  /** Among those that run. */
  place: AnsweringPlace | null = null;
  readonly #origin: Origin;
  #abort: AbortController | null = null;
  #releases: (() => void)[] | null = [];

  constructor(origin: Origin) {
    this.#origin = origin;
    this.entryForm = origin.entryForm;
    this.traceId = origin.traceId;
  }

  /** Keeps a place until it is over. The client may have left meanwhile: `release` then runs at once. */
  occupy(release: () => void): void {
    if (this.#releases === null) release();
    else this.#releases.push(release);
  }

  idle(): void {
    this.place?.idle();
  }

  holdAnswer(bytes: number): void {
    this.place?.make(bytes);
  }

  holdMade(bytes: number): void {
    this.place?.countMade(bytes);
  }

  requireAnswerRoom(): void {
    this.place?.requireRoom();
  }

  /** Ends what it occupies; later calls do nothing. */
  release(): void {
    const releases = this.#releases ?? [];
    this.#releases = null;
    for (const release of releases) release();
  }

  get sender(): Sender | null {
    return this.#origin.sender ?? null;
  }

  get traceparent(): string {
    return traceparentOf(this.traceId);
  }

  onGone(listener: () => void): void {
    this.#origin.onGone(listener);
  }

  /** Aborted with `disconnectedProblem()`. Made on demand: most never wait for anything that the client's leaving should end. */
  get signal(): AbortSignal {
    if (this.#abort === null) {
      const abort = new AbortController();
      this.#abort = abort;
      this.#origin.onGone(() => abort.abort(disconnectedProblem()));
    }
    return this.#abort.signal;
  }
}
