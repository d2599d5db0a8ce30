// Work for the tests of threads.ts: what never ends by itself, and what answers at once.
import type { ScanTask } from './block.ts';

export const endless: ScanTask<Int32Array, never> = {
  source: import.meta.url,
  id: 'endless',
  run(_blocks, begun) {
    Atomics.add(begun, 0, 1);
    Atomics.notify(begun, 0);
    while (true) Atomics.load(begun, 0);
  },
};

export const echo: ScanTask<string, string> = { source: import.meta.url, id: 'echo', run: (_blocks, text) => text };
