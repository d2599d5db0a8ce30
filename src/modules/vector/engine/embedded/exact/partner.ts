// A second thread for one search: a large first pass is shared with it part by part, so both end together whoever is slower.
// Measured on two processors: docs/performance.md.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Arena } from '../memory/arena.ts';
import { Board, type Task } from './board.ts';
import type { Candidates } from './candidates.ts';

/** The partner is at most one part behind, 0.1 ms; unless the system has put another thread in its place. */
const BLOCK_MS = 2;
/**
 * Where the other processors have work of their own, a partner comes when all is done, or in the place of the thread that woke it:
 * a pass of 0.2 ms then takes up to twice as long. Each time only one of the two did anything, passes must be twice as large
 * to be shared, up to 16 times; both at work makes it once again, and so do, step by step, those that are not shared.
 */
const RELUCTANCE_MAX = 16;
const RELUCTANCE_KEPT = 0.97;

export interface PartnerData {
  readonly buffer: SharedArrayBuffer;
}

/** A memory that tasks will name, or, null, one that they no longer will. */
export interface ToPartner {
  readonly number: number;
  readonly memory: WebAssembly.Memory | null;
}

/** A task that both work at. */
export interface Shared {
  /** The number of the next part for this thread; undefined when none is left. */
  take(): number | undefined;
  /**
   * Waits for the partner, no longer than the work has taken until now, and takes in what it found. False: its parts are still to
   * be done, which takes no longer either.
   */
  finish(candidates: Candidates): Promise<boolean>;
  /** Leaves it as it is: what the partner may find is not wanted. */
  abandon(): void;
}

export class Partner {
  readonly #fromBytes: number;
  readonly #shared: () => void;
  readonly #failed: (error: unknown) => void;
  #running: { readonly worker: Worker; readonly port: MessagePort; readonly board: Board } | undefined;
  #busy = false;
  /** How many times larger than at first a pass must be. */
  #reluctance = 1;
  readonly #known = new Set<number>();

  /**
   * @param fromBytes first passes over less are not shared; larger ones only while it helps
   * @param shared is told of each that is
   * @param failed is told what the partner died of
   */
  constructor(fromBytes: number, shared: () => void, failed: (error: unknown) => void) {
    this.#fromBytes = fromBytes;
    this.#shared = shared;
    this.#failed = failed;
  }

  /** Shares the first pass; null when it is too small, or the partner starts or has another one. */
  share(task: Task, arenas: Iterable<Arena>, bytes: number): Shared | null {
    if (bytes < this.#fromBytes || this.#busy || !Board.holds(task)) return null;
    if (bytes < this.#fromBytes * this.#reluctance) {
      this.#reluctance *= RELUCTANCE_KEPT;
      return null;
    }
    this.#running ??= this.#start();
    const { board, port } = this.#running;
    if (!board.isIdle) return null;
    for (const { number, memory } of arenas) {
      if (this.#known.has(number)) continue;
      port.postMessage({ number, memory } satisfies ToPartner);
      this.#known.add(number);
    }
    this.#busy = true;
    const begun = performance.now();
    board.begin(task);
    this.#shared();
    let own = 0;
    return {
      take: () => {
        const part = board.take();
        if (part !== undefined) own += 1;
        return part;
      },
      finish: async (candidates) => {
        const done = await this.#finish(board, candidates, performance.now() - begun);
        this.#learn(done && own > 0);
        return done;
      },
      abandon: () => {
        board.stop();
        this.#busy = false;
        this.#learn(false);
      },
    };
  }

  /** The memory is no longer used. */
  forget({ number }: Arena): void {
    if (this.#known.delete(number)) this.#running?.port.postMessage({ number, memory: null } satisfies ToPartner);
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#end();
    await running?.worker.terminate();
  }

  async #finish(board: Board, candidates: Candidates, patienceMs: number): Promise<boolean> {
    try {
      const restMs = patienceMs - BLOCK_MS;
      const done = board.wait(Math.min(BLOCK_MS, patienceMs)) || (restMs > 0 && (await board.settled(restMs)));
      return done && board.collect(candidates);
    } finally {
      this.#busy = false;
    }
  }

  #learn(helped: boolean): void {
    this.#reluctance = helped ? 1 : Math.min(RELUCTANCE_MAX, this.#reluctance * 2);
  }

  #start() {
    const board = new Board();
    const { port1, port2 } = new MessageChannel();
    const data: PartnerData = { buffer: board.buffer };
    const worker = new Worker(new URL('./partner-thread.ts', import.meta.url), {
      workerData: { ...data, port: port2 },
      transferList: [port2],
      name: 'vector-partner',
    });
    // A search that waits for it goes on by itself; the next one starts another.
    worker.on('error', (error) => {
      this.#failed(error);
      this.#forgetWorker(worker);
    });
    worker.once('exit', () => this.#forgetWorker(worker));
    worker.unref();
    port1.unref();
    return { worker, port: port1, board };
  }

  #forgetWorker(worker: Worker): void {
    if (this.#running?.worker === worker) this.#end();
  }

  #end(): void {
    this.#running?.port.close();
    this.#running = undefined;
    this.#known.clear();
  }
}
