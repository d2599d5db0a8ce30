// Threads in which films from outside are looked through: what they are made of may take long, or more memory than there is. Each has one film
// at a time; one that a film ends is not used again.
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { CheckedFilm } from '../port.ts';

const HEAP_MB_MAX = 256;
const LOOK_MS_MAX = 120_000;
/** Threads. */
const AT_ONCE = 4;
/** A thread takes some 200 ms to begin: it waits so long for the next film. */
const IDLE_MS = 10_000;

interface Idle {
  readonly worker: Worker;
  readonly retirement: NodeJS.Timeout;
}

const idle: Idle[] = [];
const turns = pLimit(AT_ONCE);

export function lookThrough(path: string, signal: AbortSignal): Promise<CheckedFilm> {
  return turns(() => look(path, signal));
}

async function look(path: string, signal: AbortSignal): Promise<CheckedFilm> {
  signal.throwIfAborted();
  const worker = takeThread();
  const stop = () => void worker.terminate();
  const timer = setTimeout(stop, LOOK_MS_MAX);
  signal.addEventListener('abort', stop);
  try {
    const answer = await asked(worker, path);
    if (answer === null) {
      signal.throwIfAborted();
      return { kind: 'unsound', message: 'looking through it takes more time or memory than a film does.' };
    }
    retire(worker);
    if (answer.kind === 'failed') throw answer.error;
    return answer;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

type Answer = CheckedFilm | { readonly kind: 'failed'; readonly error: Error };

/** Null: the thread has ended. */
function asked(worker: Worker, path: string): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    const answered = (answer: Answer) => settle(() => resolve(answer));
    const ended = () => settle(() => resolve(null));
    const broke = (error: NodeJS.ErrnoException) => {
      // Out of memory is what the film did; all else is ours.
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') settle(() => reject(error));
    };
    // One by one: the worker has listeners of its own.
    const settle = (how: () => void) => {
      worker.off('message', answered).off('exit', ended).off('error', broke);
      how();
    };
    worker.on('message', answered).on('exit', ended).on('error', broke);
    worker.postMessage(path);
  });
}

function takeThread(): Worker {
  const kept = idle.pop();
  if (kept === undefined) {
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB_MAX };
    const worker = new Worker(new URL('./look.ts', import.meta.url), { resourceLimits });
    // What ends it between two films is nobody's failure: the next one gets another thread.
    worker.on('error', () => forget(worker));
    worker.on('exit', () => forget(worker));
    return worker;
  }
  clearTimeout(kept.retirement);
  kept.worker.ref();
  return kept.worker;
}

/** Keeps the thread for the next film; nothing waits for it. */
function retire(worker: Worker): void {
  const leave = () => {
    forget(worker);
    void worker.terminate();
  };
  worker.unref();
  idle.push({ worker, retirement: setTimeout(leave, IDLE_MS).unref() });
}

function forget(worker: Worker): void {
  const at = idle.findIndex((each) => each.worker === worker);
  if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.retirement);
}
