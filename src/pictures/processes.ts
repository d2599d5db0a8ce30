// Pool of picture processes (serve.ts). Decoders run outside this process, so a picture never affects its memory, thread pool or calls.
// A picture process works on one picture at a time and is kept for a moment for the next.
import { type ChildProcess, fork } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { DecodePlaces } from './decode-places.ts';
import { type DecodeBounds, type PictureOutcome, refusedPicture, type Said, TOO_COSTLY, type Told } from './wire.ts';

const IDLE_MS = 10_000;

interface Idle {
  readonly child: ChildProcess;
  readonly retirement: NodeJS.Timeout;
}

/** `Made`: what a process says of a picture that it has made. Whoever calls bounds how many there are at once; of large ones it is one. */
export class PictureProcesses<Task, Bounds extends DecodeBounds, Made> {
  readonly #source: URL;
  readonly #bounds: Bounds;
  readonly #turns: Pick<DecodePlaces, 'large'>;
  readonly #idle: Idle[] = [];

  /** `source`: of the file that a process runs; it calls `servePictures`. */
  constructor(source: URL, bounds: Bounds, turns: Pick<DecodePlaces, 'large'>) {
    this.#source = source;
    this.#bounds = bounds;
    this.#turns = turns;
  }

  /**
   * Makes a picture of the file at `from` and writes it to `to`; when it is not made, nothing is there. Throws when `signal` ends it.
   */
  async make(from: string, to: string, task: Task, signal: AbortSignal): Promise<PictureOutcome<Made>> {
    signal.throwIfAborted();
    const child = this.#take();
    const stop = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', stop);
    try {
      const outcome = await this.#askChild(child, { kind: 'order', order: { from, to, task }, bounds: this.#bounds });
      signal.throwIfAborted();
      if (outcome.kind !== 'made') await rm(to, { force: true });
      return outcome;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #take(): ChildProcess {
    const kept = this.#idle.pop();
    if (kept !== undefined) {
      clearTimeout(kept.retirement);
      kept.child.removeAllListeners('exit');
      return kept.child;
    }
    // Nothing of the service's settings, nor of how it was started.
    return fork(this.#source.pathname, {
      env: { MALLOC_ARENA_MAX: '2' },
      execArgv: [],
      stdio: 'ignore',
      serialization: 'advanced',
    });
  }

  #keep(child: ChildProcess): void {
    const leave = () => {
      const at = this.#idle.findIndex((each) => each.child === child);
      if (at !== -1) clearTimeout(this.#idle.splice(at, 1)[0]?.retirement);
      child.kill('SIGKILL');
    };
    child.once('exit', leave);
    // Nothing waits for it.
    child.unref();
    child.channel?.unref();
    this.#idle.push({ child, retirement: setTimeout(leave, IDLE_MS).unref() });
  }

  #askChild(child: ChildProcess, told: Told<Task, Bounds>): Promise<PictureOutcome<Made>> {
    const { promise, resolve } = Promise.withResolvers<PictureOutcome<Made>>();
    let endLarge: () => void = () => undefined;
    let timer = this.#within(child, resolve);
    const onMessage = (said: Said<Made>) => {
      if (said.kind === 'done') {
        // After a large one its memory is given back with it.
        if (isLarge) child.kill('SIGKILL');
        else this.#keep(child);
        resolve(said.outcome);
        return;
      }
      isLarge = true;
      clearTimeout(timer);
      void this.#turns.large(() => {
        timer = this.#within(child, resolve);
        tell(child, { kind: 'go' });
        return new Promise<void>((end) => {
          endLarge = end;
          if (child.exitCode !== null || child.signalCode !== null) end();
        });
      });
    };
    let isLarge = false;
    const onExit = (code: number | null) => resolve(code === TOO_COSTLY ? tooCostly : damaged);
    child.ref();
    child.channel?.ref();
    child
      .on('message', onMessage)
      .once('exit', onExit)
      .once('error', () => onExit(null));
    tell(child, told);
    return promise.finally(() => {
      clearTimeout(timer);
      child
        .removeAllListeners('message')
        .off('exit', onExit)
        .removeAllListeners('error')
        .on('error', () => undefined);
      endLarge();
    });
  }

  /** A machine that is busy with other things may keep a sound picture from being done. */
  #within(child: ChildProcess, resolve: (outcome: PictureOutcome<never>) => void): NodeJS.Timeout {
    return setTimeout(() => {
      resolve({ kind: 'late' });
      child.kill('SIGKILL');
    }, this.#bounds.msMax);
  }
}

/** One that has just ended says so by its exit. */
function tell<Task, Bounds>(child: ChildProcess, told: Told<Task, Bounds>): void {
  child.send(told as object, () => undefined);
}

const damaged = refusedPicture('not_an_image', 'The image is damaged.');
const tooCostly = refusedPicture(
  'image_too_costly',
  'Decoding the image takes more time or memory than a picture does; save it again as a plain JPEG or PNG.',
);
