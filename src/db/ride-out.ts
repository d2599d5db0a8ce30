// Retries for some seconds, instead of an error, while the database restarts or fails over, or another process holds a wallet.
import { setTimeout as sleep } from 'node:timers/promises';
import { CommitUnknown, isConnectionError, sqlState } from './database.ts';

/** How long calls wait for a restarting database before they are told. */
export const RETRY_FOR_MS = 8_000;
export const RETRY_PAUSE_MS = 100;

/** The connection failed: the work was not done, or nobody knows whether its COMMIT arrived. */
export function isLost(error: unknown): boolean {
  return error instanceof CommitUnknown || isConnectionError(error);
}

/** Lost, or a serialisation failure, deadlock or lock time-out: worth another try until the deadline. */
export function mayRunAgain(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01' || state === '55P03' || isLost(error);
}

/** Runs `attempt` until it succeeds, fails for a reason of its own, or the time is up. It must see itself what an earlier, lost attempt did. */
export async function rideOut<T>(attempt: (tries: number) => Promise<T>, forMs = RETRY_FOR_MS): Promise<T> {
  const giveUpAt = performance.now() + forMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (!mayRunAgain(error) || performance.now() > giveUpAt) throw error;
      await sleep(RETRY_PAUSE_MS);
    }
  }
}
