// Polls a service across lost connections. If the first request fails, the command ends. Later, an unreachable or overloaded service is
// retried after a pause; any other failure ends the command.
import { setTimeout as sleep } from 'node:timers/promises';
import { exactBackoffMs } from '../../lib/backoff.ts';
import { CallFailed, Unanswered } from './http.ts';

const BACKOFF = { firstMs: 1_000, maxMs: 10_000 };

/** Each answer of `ask`; the consumer says when the next one is due. Throws what does not pass by waiting. */
export async function* follow<T>(ask: () => Promise<T>, url: string): AsyncGenerator<T, never> {
  yield await ask();
  for (let failures = 0; ; ) {
    try {
      const answer = await ask();
      if (failures > 0) process.stderr.write(`connected to ${url} again\n`);
      failures = 0;
      yield answer;
    } catch (error) {
      failures += 1;
      const pauseMs = pauseAfter(error, failures);
      if (failures === 1) process.stderr.write(`${(error as Error).message}; trying again\n`);
      await sleep(pauseMs);
    }
  }
}

/** Rethrows what stays as it is. */
function pauseAfter(error: unknown, failures: number): number {
  const usual = exactBackoffMs(BACKOFF, failures);
  if (error instanceof Unanswered) return usual;
  if (error instanceof CallFailed && (error.status === 429 || error.status === 503))
    return Math.max(usual, error.failure.retry_after_ms ?? 0);
  throw error;
}
