// Returns memory to the system when the process is idle. V8 pools freed pages and releases them only in a "last resort" collection. Measured:
// after some minutes of high load, 430 MB of 820 were such pages, and stayed.
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { admission } from './admission.ts';
import type { Sweep } from './background/sweeper/sweep.ts';

/** What V8's extension `gc` takes. The collection takes some 100 ms for a heap of 300 MB. */
type Collect = (options: { type: 'major'; flavor: 'last-resort'; execution: 'sync' }) => void;

/** Runs on every process. `intervalMs`: how long the process must have been idle. */
export function spareMemorySweep(): Sweep {
  const bounds = admission.all.spareMemory;
  let collect: Collect | null = null;
  let keptBytes = Number.POSITIVE_INFINITY;
  let before = performance.eventLoopUtilization();
  return {
    name: 'process.spare_memory',
    intervalMs: bounds.idleMs,
    perProcess: true,
    async run() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      const bytes = process.memoryUsage.rss();
      keptBytes = Math.min(keptBytes, bytes);
      if (utilization > bounds.utilizationMax || bytes - keptBytes < bounds.grownBytesMin) return false;
      collect ??= loadCollect();
      collect({ type: 'major', flavor: 'last-resort', execution: 'sync' });
      // What is used by now does not become free by looking again.
      keptBytes = process.memoryUsage.rss();
      return false;
    },
  };
}

/**
 * What a start leaves behind, some 20 MB of sources read and schemas made, goes back in the first second that the process is idle. For a process of
 * its own.
 */
export function giveBackStart(): void {
  const { startIdleMs, utilizationMax } = admission.all.spareMemory;
  const before = performance.eventLoopUtilization();
  setTimeout(() => {
    const { utilization } = performance.eventLoopUtilization(performance.eventLoopUtilization(), before);
    if (utilization > utilizationMax) giveBackStart();
    else loadCollect()({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  }, startIdleMs).unref();
}

/** A context made while the flag stands has the function. */
function loadCollect(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
