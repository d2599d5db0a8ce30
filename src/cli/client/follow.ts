// Asking a service again and again, over lost connections: the first failure ends the command, later ones are waited out.
import { setTimeout as sleep } from 'node:timers/promises';
import { CallFailed, Unanswered } from './http.ts';

const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 10_000;

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
      const pauseMs = pauseAfter(error, failures);
      if (failures === 0) process.stderr.write(`${(error as Error).message}; trying again\n`);
      failures += 1;
      await sleep(pauseMs);
    }
  }
}

/** Rethrows what stays as it is. */
function pauseAfter(error: unknown, failures: number): number {
  const usual = Math.min(PAUSE_MS * 2 ** failures, PAUSE_MAX_MS);
  if (error instanceof Unanswered) return usual;
  if (error instanceof CallFailed && (error.status === 429 || error.status === 503))
    return Math.max(usual, error.failure.retry_after_ms ?? 0);
  throw error;
}
