// The sandbox: makes real films here, of the words of a prompt, in threads of their own. A film is a function of its scenes, its size and
// its image: making it again makes the same bytes.
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { FilmSandbox, SandboxRequest } from '../port.ts';
import type { FilmProgress, FilmTask } from './film.ts';
import { ordersIn } from './storyboard.ts';

// Of a thread: pictures are outside of its heap.
const HEAP_MB_MAX = 256;

export const filmSandbox: FilmSandbox = {
  async render(request) {
    request.signal.throwIfAborted();
    const orders = ordersIn(request.scenes);
    if (orders.fail !== null) return { kind: 'refused', code: orders.fail };
    const { scenes, widthPx, heightPx, image, filmPath, thumbnailPath } = request;
    try {
      await runThread({ scenes, widthPx, heightPx, image, filmPath, thumbnailPath, orders }, request);
      return { kind: 'made' };
    } catch (error) {
      await Promise.all([filmPath, thumbnailPath].map((path) => rm(path, { force: true })));
      throw error;
    }
  },
};

function runThread(task: FilmTask, { onProgress, signal }: SandboxRequest): Promise<void> {
  const worker = new Worker(new URL('./film.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop);
  return new Promise<void>((resolve, reject) => {
    worker.on('message', ({ frame, frames }: FilmProgress) => onProgress((100 * frame) / frames));
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (signal.aborted) reject(signal.reason);
      else if (code === 0) resolve();
      else reject(new Error(`the thread of a film ended with ${code}`));
    });
  }).finally(() => signal.removeEventListener('abort', stop));
}
