// A step that takes long: once a second it says that it lives and how far it is, and hears when its job has ended.
import type { Core } from '../../../core/context.ts';
import { type Step, stepGoesOn } from './steps.ts';

const LOOK_MS = 1_000;
/** 100 is for what has succeeded. */
const PCT_MAX = 99;

export class Watch {
  readonly #core: Pick<Core, 'db' | 'log'>;
  readonly #step: Step;
  readonly #what: string;
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Aborts when `signal` does, and when the job has ended or another step has it. */
  readonly signal: AbortSignal;
  isLost = false;
  #pct: number | null = null;

  constructor(core: Pick<Core, 'db' | 'log'>, step: Step, signal: AbortSignal, what: string) {
    this.#core = core;
    this.#step = step;
    this.#what = what;
    this.signal = AbortSignal.any([signal, this.#stopped.signal]);
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  report(pct: number): void {
    this.#pct = Math.min(PCT_MAX, Math.floor(pct));
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      if (await stepGoesOn(this.#core.db, this.#step, this.#pct, this.#what)) return;
      this.isLost = true;
      this.#stopped.abort(new Error('the job has ended'));
    } catch (err) {
      // The lease outlives some failures; when it ends, another step takes the job over and this one's end is refused.
      this.#core.log.warn({ err, jobId: this.#step.id }, 'the progress of a film could not be written');
    }
  }
}
