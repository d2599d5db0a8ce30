// Looks at films that come from outside, each in a thread of its own: what they are made of may take long, or more memory than there is.
import { Worker } from 'node:worker_threads';
import type { CheckedFilm, FilmChecks } from '../port.ts';

const HEAP_MB_MAX = 256;
const LOOK_MS_MAX = 120_000;

export const filmChecks: FilmChecks = {
  check(path, signal) {
    signal.throwIfAborted();
    return new Promise<CheckedFilm>((resolve, reject) => {
      const worker = new Worker(new URL('./look.ts', import.meta.url), {
        workerData: { path },
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
      });
      const stop = () => void worker.terminate();
      const timer = setTimeout(stop, LOOK_MS_MAX);
      signal.addEventListener('abort', stop);
      let found: CheckedFilm = {
        kind: 'unsound',
        message: 'looking through it takes more time or memory than a film does.',
      };
      worker.on('message', (checked: CheckedFilm) => {
        found = checked;
      });
      worker.on('error', (error: NodeJS.ErrnoException) => {
        // Out of memory is what the film did; all else is ours.
        if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') reject(error);
      });
      worker.on('exit', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        if (signal.aborted) reject(signal.reason);
        else resolve(found);
      });
    });
  },
  frame: () => Promise.resolve(false),
};
