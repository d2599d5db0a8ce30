// State of a webhook after attempts: its counters, the health of its line, and whether it is disabled (contract of webhooks).
import { DAY_MS } from '../../lib/time.ts';
import { HEALTH, type Health } from '../turns/places.ts';
import { type AttemptResult, isMade } from './attempt.ts';

const FAILURES_TO_DISABLE = 10;
const FAILING_FOR_MS = 5 * DAY_MS;

/** Stored as disabled_reason. gone: the receiver answered 410. failing: too many failures over too long a time. */
export type DisabledReason = 'gone' | 'failing';

export interface Standing {
  /** Failed attempts since the last success. */
  readonly failedAttempts: number;
  /** When the first of them ended. */
  readonly failingSinceMs: number | null;
  /** Null: no attempt has ended, so nothing is known. */
  readonly health: Health | null;
  readonly disable: DisabledReason | null;
}

/** The standing after further attempts, in the order in which they ended. Attempts that this process ended itself, or did not make, do not count. */
export function standingAfter(
  before: Pick<Standing, 'failedAttempts' | 'failingSinceMs'>,
  verdicts: readonly AttemptResult['verdict'][],
  nowMs: number,
): Standing {
  let { failedAttempts, failingSinceMs } = before;
  let health: Health | null = null;
  for (const verdict of verdicts) {
    if (!isMade({ verdict })) continue;
    const succeeded = verdict === 'succeeded';
    failedAttempts = succeeded ? 0 : failedAttempts + 1;
    failingSinceMs = succeeded ? null : (failingSinceMs ?? nowMs);
    health = succeeded ? HEALTH.healthy : HEALTH.failing;
  }
  const failing =
    failedAttempts >= FAILURES_TO_DISABLE && failingSinceMs !== null && nowMs - failingSinceMs >= FAILING_FOR_MS;
  const disable = verdicts.includes('gone') ? 'gone' : failing ? 'failing' : null;
  return { failedAttempts, failingSinceMs, health, disable };
}
