// Repeats a function at an interval for the life of the process, such as a poll for changes. Failures are logged, and the loop goes on.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../process/logger.ts';

interface Repeated {
  readonly everyMs: number;
  readonly log: Logger;
  /** What is logged with an error of the work. */
  readonly failed: string;
  work(): Promise<void>;
}

/** Begins with a pause. Answers what ends it: that resolves once work under way has ended. */
export function repeat({ everyMs, log, failed, work }: Repeated): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await sleep(everyMs, undefined, { signal });
        await work();
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, failed);
      }
    }
  };
  const running = run();
  return () => {
    stopping.abort();
    return running;
  };
}
