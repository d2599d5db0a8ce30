// Pace of EMAIL_PER_SECOND: this process hands its mails over one after the other at this rate; it only delays.
import { setTimeout as sleep } from 'node:timers/promises';

/** 0: no bound. */
export function paceOf(perSecond: number): () => Promise<void> {
  if (perSecond === 0) return async () => undefined;
  let nextMs = 0;
  return async () => {
    const nowMs = performance.now();
    const turnMs = Math.max(nowMs, nextMs);
    nextMs = turnMs + 1_000 / perSecond;
    if (turnMs > nowMs) await sleep(turnMs - nowMs);
  };
}
