// The sandbox: makes real films here, of the words of a prompt, in threads of their own. A film is a function of its scenes, its size and
// its image: making it again makes the same bytes.
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import pLimit, { type LimitFunction } from 'p-limit';
import type { FilmProgress, FilmTask } from './film.ts';
import { ordersIn, type Scene } from './storyboard.ts';

export type { Scene } from './storyboard.ts';

export interface SandboxRequest {
  readonly scenes: readonly Scene[];
  /** Both even. */
  readonly widthPx: number;
  readonly heightPx: number;
  /** What opens the film: JPEG, PNG or WebP. */
  readonly image: Uint8Array | null;
  /** Where film (MP4) and thumbnail (JPEG) are written; removed when it fails. */
  readonly filmPath: string;
  readonly thumbnailPath: string;
  readonly onProgress: (pct: number) => void;
  readonly signal: AbortSignal;
}

/** `refused`: the prompt ordered this code. */
export type SandboxOutcome = { readonly kind: 'made' } | { readonly kind: 'refused'; readonly code: string };

// Of a thread: pictures are outside of its heap.
const HEAP_MB_MAX = 256;

export class Sandbox {
  readonly #turns: LimitFunction;

  /** @param threads films that are made at once. */
  constructor(threads: number) {
    this.#turns = pLimit(threads);
  }

  /** Makes the film, when it is its turn. Throws when `signal` ends it, or the thread fails. */
  render(request: SandboxRequest): Promise<SandboxOutcome> {
    return this.#turns(async () => {
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
    });
  }
}

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
