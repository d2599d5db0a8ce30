// Poll times of vendor jobs: first when the job may be done, then at growing intervals. Jitter keeps jobs that began together from polling
// together. The expected duration of a model is learned from its earlier jobs.

const FIRST_MS_MIN = 2_000;
const FIRST_SHARE = 0.3;
const NEXT_MS_MIN = 2_000;
const NEXT_MS_MAX = 15_000;
/** Of the time since the job was accepted. */
const NEXT_SHARE = 0.1;
const JITTER = 0.15;
/** How much the latest job counts. */
const LATEST_SHARE = 0.3;
const MODELS_MAX = 1_000;

export function firstPauseMs(expectedMs: number | null): number {
  return withJitter(Math.max(FIRST_MS_MIN, FIRST_SHARE * (expectedMs ?? 0)));
}

export function nextPauseMs(elapsedMs: number): number {
  return withJitter(Math.min(NEXT_MS_MAX / (1 + JITTER), Math.max(NEXT_MS_MIN, NEXT_SHARE * elapsedMs)));
}

/** Never shorter than the least. */
function withJitter(ms: number): number {
  return Math.round(ms * (1 + JITTER * Math.random()));
}

/** A moving average for each model, as this process has seen it. */
export class WorkTimes {
  /** Milliseconds that a unit takes: a second of video, an image. */
  readonly #byModel = new Map<string, number>();

  /** Null: nothing is known of the model. */
  expectedMs(model: string, units: number): number | null {
    const each = this.#byModel.get(model);
    return each === undefined ? null : each * units;
  }

  learnPace(model: string, units: number, ms: number): void {
    const each = ms / Math.max(1, units);
    const before = this.#byModel.get(model) ?? each;
    if (this.#byModel.size >= MODELS_MAX && !this.#byModel.has(model)) return;
    this.#byModel.set(model, before + LATEST_SHARE * (each - before));
  }
}
