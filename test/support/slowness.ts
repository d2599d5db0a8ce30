// Bounds of time on machines that are slower than others, or busy with other things.
import { createHash } from 'node:crypto';

const { CLOCK } = process.env;
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

/**
 * So many milliseconds on an idle machine, and as many times more as this one is slower now. Time is bounded where `CLOCK` is `on`, as
 * `npm run test:soak` and `npm run test:long` set it; elsewhere what must happen is waited for, however slow the machine is.
 */
export function allowedMs(idleMs: number): number {
  return CLOCK === 'on' ? idleMs * slowness() : Number.POSITIVE_INFINITY;
}

const ROWS = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ id: `row ${i}`, value: i * 1.5, tags: ['a'] })));
/** Of reading `ROWS` on a usual machine. */
const USUAL_READ_MS = 0.3;
const MIB = 1024 * 1024;
/** A body and its copies, or what a collection of garbage moves. */
const FRESH_BYTES = 32 * MIB;

/** Processor time, ms, that `work` takes of this thread, five times. */
function cpuMsOf(work: () => unknown): number[] {
  return Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
}

/** Processor time, ms, that it takes here to touch 32 MiB of new memory: from 5 to 600 between machines. */
export function freshMemoryMs(): number {
  // What was given back is sometimes had again, and is not new.
  const kept: Buffer[] = [];
  const taken = cpuMsOf(() => {
    for (let bytes = 0; bytes < FRESH_BYTES; bytes += 4 * MIB) kept.push(Buffer.allocUnsafeSlow(4 * MIB).fill(1));
  });
  return Math.max(...taken);
}

/**
 * Processor time that may be taken here by what takes a usual machine so many milliseconds: more where this one computes slower, and that
 * of new memory.
 */
export function allowedCpuMs(usualMs: number): number {
  const reads = 20;
  const taken = cpuMsOf(() => {
    for (let i = 0; i < reads; i += 1) JSON.parse(ROWS);
  });
  return usualMs * Math.max(1, Math.min(...taken) / reads / USUAL_READ_MS) + freshMemoryMs();
}
