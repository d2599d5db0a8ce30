// Worker threads for long work. Each does one task at a time and is kept a while for the next; one that ends or fails in a task is not reused.
// Their file calls `serve`.
import { getPriority, setPriority } from 'node:os';
import { parentPort, type Transferable, Worker, workerData } from 'node:worker_threads';

const MIB = 1_048_576;
const USUAL_HEAP_MB = 256;
/**
 * V8's limit is the bound and this. A thread is ended at its bound, from outside: at V8's limit Node 24 ends the thread only if no single
 * step, such as the growth of a list or a map, takes 16 MB more. Otherwise V8 ends the process.
 */
const SPARE_HEAP_MB = 512;
/** A thread takes some 200 ms to begin: it waits so long for the next piece. */
const IDLE_MS = 10_000;
const MEMORY_LOOK_MS = 20;

export interface ThreadBounds {
  /** Of the heap, garbage included, looked at every 20 ms; buffers are outside of it. */
  readonly heapMb?: number;
  /** Of what is outside of the heap, such as inflated bytes. Absent: not bounded. */
  readonly outsideHeapMb?: number;
  /** What a thread waits for the next piece; 10 s where absent. */
  readonly idleMs?: number;
  /** On Linux, where it concerns the thread alone: other work goes first. Absent: as the process. */
  readonly niceness?: number;
}

/** What a thread and whoever runs it say to each other beside the task and its answer. */
export interface ThreadTalk<Progress, Question, Reply> {
  onProgress?(progress: Progress): void;
  /** What the thread cannot do itself, such as asking the outside world. */
  onAsk?(question: Question): Promise<Reply>;
}

type Said<Answer, Progress, Question> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'done'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: Error };

type Told<Task, Reply> =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'reply'; readonly id: number; readonly reply: Reply }
  | { readonly kind: 'refused'; readonly id: number; readonly error: Error };

interface Idle {
  readonly worker: Worker;
  readonly retirement: NodeJS.Timeout;
}

export class Threads<Task, Answer, Progress = never, Question = never, Reply = never> {
  readonly #source: URL;
  readonly #bounds: ThreadBounds;
  readonly #idle: Idle[] = [];
  readonly #alive = new Set<Worker>();

  constructor(source: URL, bounds: ThreadBounds = {}) {
    this.#source = source;
    this.#bounds = bounds;
  }

  /** How many there are, those that wait for work among them. */
  get count(): number {
    return this.#alive.size;
  }

  /** What a thread makes of the task; null when it ended in it: it was aborted, or had not enough memory. Throws what the thread throws. */
  async run(
    task: Task,
    signal: AbortSignal,
    talk: ThreadTalk<Progress, Question, Reply> = {},
    transfer: readonly Transferable[] = [],
  ): Promise<Answer | null> {
    signal.throwIfAborted();
    const worker = this.#take();
    const stop = () => void worker.terminate();
    const watch = this.#watch(worker, stop);
    signal.addEventListener('abort', stop);
    try {
      const said = await askThread<Task, Answer, Progress, Question, Reply>(worker, task, talk, transfer);
      if (said?.kind === 'failed') {
        stop();
        throw said.error;
      }
      if (said === null || signal.aborted) return null;
      this.#retire(worker);
      return said.answer;
    } finally {
      clearInterval(watch);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Ends those that wait for work. */
  async close(): Promise<void> {
    const idle = this.#idle.splice(0);
    for (const { retirement } of idle) clearTimeout(retirement);
    await Promise.all(idle.map(({ worker }) => worker.terminate()));
  }

  #watch(worker: Worker, stop: () => void): NodeJS.Timeout {
    const { heapMb = USUAL_HEAP_MB, outsideHeapMb = Number.POSITIVE_INFINITY } = this.#bounds;
    let isLooking = false;
    const look = async () => {
      if (isLooking) return;
      isLooking = true;
      // A thread that has not begun, or has ended, has no statistics.
      const used = await worker.getHeapStatistics().catch(() => null);
      isLooking = false;
      if (used === null) return;
      if (used.used_heap_size > heapMb * MIB || used.external_memory > outsideHeapMb * MIB) stop();
    };
    return setInterval(look, MEMORY_LOOK_MS);
  }

  #take(): Worker {
    const kept = this.#idle.pop();
    if (kept === undefined) {
      const { heapMb = USUAL_HEAP_MB, niceness } = this.#bounds;
      const resourceLimits = { maxOldGenerationSizeMb: heapMb + SPARE_HEAP_MB };
      const worker = new Worker(this.#source, { resourceLimits, workerData: niceness });
      this.#alive.add(worker);
      // What ends it between two pieces is nobody's failure: the next one gets another thread.
      worker.on('error', () => this.#forget(worker));
      worker.on('exit', () => {
        this.#alive.delete(worker);
        this.#forget(worker);
      });
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
    this.#idle.push({ worker, retirement: setTimeout(leave, this.#bounds.idleMs ?? IDLE_MS).unref() });
  }

  #forget(worker: Worker): void {
    const at = this.#idle.findIndex((each) => each.worker === worker);
    if (at !== -1) clearTimeout(this.#idle.splice(at, 1)[0]?.retirement);
  }
}

type End<Answer> = Extract<Said<Answer, never, never>, { readonly kind: 'done' | 'failed' }>;

/** Null: the thread has ended. */
function askThread<Task, Answer, Progress, Question, Reply>(
  worker: Worker,
  task: Task,
  { onProgress, onAsk }: ThreadTalk<Progress, Question, Reply>,
  transfer: readonly Transferable[],
): Promise<End<Answer> | null> {
  const tell = (told: Told<Task, Reply>, moved: readonly Transferable[] = []) => worker.postMessage(told, [...moved]);
  return new Promise((resolve, reject) => {
    const onMessage = (said: Said<Answer, Progress, Question>) => {
      if (said.kind === 'progress') onProgress?.(said.progress);
      else if (said.kind === 'ask') void reply(said.id, said.question);
      else settle(() => resolve(said));
    };
    const reply = async (id: number, question: Question) => {
      try {
        tell({ kind: 'reply', id, reply: (await onAsk?.(question)) as Reply });
      } catch (error) {
        tell({ kind: 'refused', id, error: error as Error });
      }
    };
    const onExit = () => settle(() => resolve(null));
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') settle(() => reject(error));
    };
    // One by one: the worker has listeners of its own.
    const settle = (how: () => void) => {
      worker.off('message', onMessage).off('exit', onExit).off('error', onError);
      how();
    };
    worker.on('message', onMessage).on('exit', onExit).on('error', onError);
    tell({ kind: 'task', task }, transfer);
  });
}

/** What work in a thread may say. */
export interface ThreadLine<Progress, Question, Reply> {
  tell(progress: Progress): void;
  /** Throws what whoever runs it throws. */
  ask(question: Question): Promise<Reply>;
}

/** In a thread: does each task that comes, and tells what came of it. `moved`: what of an answer is handed over without a copy. */
export function serve<Task, Answer, Progress = never, Question = never, Reply = never>(
  work: (task: Task, line: ThreadLine<Progress, Question, Reply>) => Promise<Answer>,
  moved: (answer: Answer) => readonly Transferable[] = () => [],
): void {
  const niceness: unknown = workerData;
  if (typeof niceness === 'number' && process.platform === 'linux' && getPriority() < niceness) setPriority(niceness);
  const say = (said: Said<Answer, Progress, Question>, transfer: readonly Transferable[] = []) =>
    parentPort?.postMessage(said, [...transfer]);
  const asking = new Map<number, PromiseWithResolvers<Reply>>();
  let questions = 0;
  const line: ThreadLine<Progress, Question, Reply> = {
    tell: (progress) => say({ kind: 'progress', progress }),
    ask(question) {
      questions += 1;
      const waiting = Promise.withResolvers<Reply>();
      asking.set(questions, waiting);
      say({ kind: 'ask', id: questions, question });
      return waiting.promise;
    },
  };
  parentPort?.on('message', async (told: Told<Task, Reply>) => {
    if (told.kind !== 'task') {
      const waiting = asking.get(told.id);
      asking.delete(told.id);
      if (told.kind === 'reply') waiting?.resolve(told.reply);
      else waiting?.reject(told.error);
      return;
    }
    try {
      const answer = await work(told.task, line);
      say({ kind: 'done', answer }, moved(answer));
    } catch (error) {
      say({ kind: 'failed', error: error as Error });
    }
  });
}
