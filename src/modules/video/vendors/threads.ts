// Threads for long work on videos. Each does one piece at a time, and is kept a while for the next; one that ends, or fails, in its work is
// not used again. Its file calls `serve`.
import { parentPort, Worker } from 'node:worker_threads';

/** Of a thread: pictures are outside of its heap. */
const HEAP_MB_MAX = 256;
/** A thread takes some 200 ms to begin: it waits so long for the next piece. */
const IDLE_MS = 10_000;

type Said<Answer, Progress> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: Error };

interface Idle {
  readonly worker: Worker;
  readonly retirement: NodeJS.Timeout;
}

export class Threads<Task, Answer, Progress = never> {
  readonly #source: URL;
  readonly #idle: Idle[] = [];

  constructor(source: URL) {
    this.#source = source;
  }

  /** What a thread makes of the task; null when it ended in it: it was aborted, or had not enough memory. Throws what the thread throws. */
  async run(task: Task, signal: AbortSignal, onProgress?: (progress: Progress) => void): Promise<Answer | null> {
    signal.throwIfAborted();
    const worker = this.#take();
    const stop = () => void worker.terminate();
    signal.addEventListener('abort', stop);
    try {
      const said = await asked<Task, Answer, Progress>(worker, task, onProgress);
      if (said?.kind === 'failed') {
        stop();
        throw said.error;
      }
      if (said === null || signal.aborted) return null;
      this.#retire(worker);
      return said.answer;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #take(): Worker {
    const kept = this.#idle.pop();
    if (kept === undefined) {
      const worker = new Worker(this.#source, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX } });
      // What ends it between two pieces is nobody's failure: the next one gets another thread.
      worker.on('error', () => this.#forget(worker));
      worker.on('exit', () => this.#forget(worker));
      return worker;
    }
    clearTimeout(kept.retirement);
    kept.worker.ref();
    return kept.worker;
  }

  /** Keeps the thread for the next piece; nothing waits for it. */
  #retire(worker: Worker): void {
    const leave = () => {
      this.#forget(worker);
      void worker.terminate();
    };
    worker.unref();
    this.#idle.push({ worker, retirement: setTimeout(leave, IDLE_MS).unref() });
  }

  #forget(worker: Worker): void {
    const at = this.#idle.findIndex((each) => each.worker === worker);
    if (at !== -1) clearTimeout(this.#idle.splice(at, 1)[0]?.retirement);
  }
}

type End<Answer> = Exclude<Said<Answer, never>, { readonly kind: 'progress' }>;

/** Null: the thread has ended. */
function asked<Task, Answer, Progress>(
  worker: Worker,
  task: Task,
  onProgress?: (progress: Progress) => void,
): Promise<End<Answer> | null> {
  return new Promise((resolve, reject) => {
    const heard = (said: Said<Answer, Progress>) => {
      if (said.kind === 'progress') onProgress?.(said.progress);
      else settle(() => resolve(said));
    };
    const ended = () => settle(() => resolve(null));
    const broke = (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') settle(() => reject(error));
    };
    // One by one: the worker has listeners of its own.
    const settle = (how: () => void) => {
      worker.off('message', heard).off('exit', ended).off('error', broke);
      how();
    };
    worker.on('message', heard).on('exit', ended).on('error', broke);
    worker.postMessage(task);
  });
}

/** In a thread: does each task that comes, and tells what came of it. */
export function serve<Task, Answer, Progress = never>(
  work: (task: Task, tell: (progress: Progress) => void) => Promise<Answer>,
): void {
  const say = (said: Said<Answer, Progress>) => parentPort?.postMessage(said);
  parentPort?.on('message', async (task: Task) => {
    try {
      say({ kind: 'done', answer: await work(task, (progress) => say({ kind: 'progress', progress })) });
    } catch (error) {
      say({ kind: 'failed', error: error as Error });
    }
  });
}
