// Bounds of time on a machine that is busy with other things.
import { createHash } from 'node:crypto';

const WORK_CPU_MS = 25;
const BLOCK = Buffer.alloc(64 * 1024);

/** How many times as long as its processor time a piece of work takes by the clock now: 1 on an idle machine. */
function slowness(): number {
  const [begunMs, before] = [performance.now(), process.threadCpuUsage()];
  let cpuMs = 0;
  while (cpuMs < WORK_CPU_MS) {
    createHash('sha256').update(BLOCK).digest();
    const { user, system } = process.threadCpuUsage(before);
    cpuMs = (user + system) / 1000;
  }
  return Math.max(1, (performance.now() - begunMs) / cpuMs);
}

const SAMPLE_EVERY_MS = 250;

/** What `work` answers, and how many milliseconds it would have taken on an idle machine: looked at all the while it runs. */
export async function idleMsOf<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly idleMs: number }> {
  const begunMs = performance.now();
  const samples = [slowness()];
  const sampling = setInterval(() => samples.push(slowness()), SAMPLE_EVERY_MS);
  try {
    const value = await work();
    const tookMs = performance.now() - begunMs;
    return { value, idleMs: (tookMs * samples.length) / samples.reduce((sum, one) => sum + one, 0) };
  } finally {
    clearInterval(sampling);
  }
}

/** So many milliseconds on an idle machine, and as many times more as this one is slower now. */
export function allowedMs(idleMs: number): number {
  return idleMs * slowness();
}
