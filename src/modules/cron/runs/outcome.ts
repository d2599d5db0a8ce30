// What an attempt came to.
import type { RunEnd } from './store.ts';

export type Outcome =
  /** By this process, which stops or has lost the run: nothing is known of it. */
  | 'ended'
  /** A person must approve the call first: nothing was done. */
  | 'waits'
  | {
      /** As it stands if this was the last attempt. */
      readonly end: RunEnd;
      /** Null: it succeeded, or trying again cannot help. */
      readonly retry: {
        /** The pause that was asked for; null: none was. */
        readonly afterMs: number | null;
      } | null;
    };

/** The failure of a run that calls nothing any more. */
export function notMade(errorCode: string): Exclude<Outcome, string> {
  const end = { status: 'failed', httpStatus: null, errorCode, latencyMs: null, snippet: null, costNanos: 0n } as const;
  return { end, retry: null };
}
