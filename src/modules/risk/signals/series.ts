// Exact counts of a key in windows of 60 steps: sightings, and distinct partners of each other kind. Both are sums over steps. A sighting stays
// in its step; a partner counts only in the step of its last sighting, and moves when it is seen again. So a key costs at most 60 numbers a line
// and window, however often it is seen.
import { KINDS } from './keys.ts';

const STEPS = 60;
/** A window is the running step and the 59 before it. Every step is of whole seconds. */
export const WINDOWS = [
  { name: '1m', stepMs: 1_000 },
  { name: '1h', stepMs: 60_000 },
  { name: '24h', stepMs: 24 * 60_000 },
  { name: '7d', stepMs: 168 * 60_000 },
  { name: '30d', stepMs: 720 * 60_000 },
] as const;
/** Lines of a key: sightings, then partners of each kind, at the byte of their keys. That of its own kind stays empty. */
export const SIGHTINGS = 0;
const LISTS = (1 + KINDS.length) * WINDOWS.length;

/** Pairs of a step and what it holds, flat, oldest first. Every call decodes and encodes some hundred: plain loops take a quarter of the time. */
type Steps = number[];

const HEAD_BYTES = 6;
/** Of a step: its age, then up to five of its count. */
const STEP_BYTES_MAX = 6;

export class Series {
  /** By line and window. */
  readonly #steps: Steps[] = [];
  /** No step begins after this. */
  #latestMs = 0;

  static empty(): Series {
    const series = new Series();
    for (let i = 0; i < LISTS; i += 1) series.#steps.push([]);
    return series;
  }

  static decode(bytes: Buffer): Series {
    const series = new Series();
    series.#latestMs = bytes.readUIntBE(0, HEAD_BYTES);
    let at = HEAD_BYTES;
    for (let i = 0; i < LISTS; i += 1) {
      const latest = stepAt(series.#latestMs, i % WINDOWS.length);
      // Of its length at once: one that grows takes room for seventeen numbers.
      const steps: Steps = new Array(2 * (bytes[at++] as number));
      for (let j = 0; j < steps.length; j += 2) {
        steps[j] = latest - (bytes[at++] as number);
        let [count, unit] = [0, 1];
        for (; (bytes[at] as number) >= 128; unit *= 128) count += ((bytes[at++] as number) - 128) * unit;
        steps[j + 1] = count + (bytes[at++] as number) * unit;
      }
      series.#steps.push(steps);
    }
    return series;
  }

  /** The time of the latest step; of each list its length, and each step as its age and its count, seven bits a byte, the lowest first. */
  encode(): Buffer {
    let most = HEAD_BYTES + LISTS;
    for (const steps of this.#steps) most += (steps.length / 2) * STEP_BYTES_MAX;
    const bytes = Buffer.allocUnsafe(most);
    let at = bytes.writeUIntBE(this.#latestMs, 0, HEAD_BYTES);
    for (let i = 0; i < LISTS; i += 1) {
      const steps = this.#steps[i] as Steps;
      const latest = stepAt(this.#latestMs, i % WINDOWS.length);
      const lengthAt = at++;
      let length = 0;
      for (let j = 0; j < steps.length; j += 2) {
        const age = latest - (steps[j] as number);
        let count = steps[j + 1] as number;
        if (age >= STEPS || count <= 0) continue;
        length += 1;
        bytes[at++] = age;
        for (; count >= 128; count = Math.floor(count / 128)) bytes[at++] = (count % 128) + 128;
        bytes[at++] = count;
      }
      bytes[lengthAt] = length;
    }
    return bytes.subarray(0, at);
  }

  add(line: number, atMs: number): void {
    if (atMs > this.#latestMs) this.#latestMs = atMs;
    for (let window = 0; window < WINDOWS.length; window += 1) this.#change(line, window, stepAt(atMs, window), 1);
  }

  /** Counts at another time what was counted at `fromMs`. */
  move(line: number, fromMs: number, toMs: number): void {
    if (toMs > this.#latestMs) this.#latestMs = toMs;
    for (let window = 0; window < WINDOWS.length; window += 1) {
      const [from, to] = [stepAt(fromMs, window), stepAt(toMs, window)];
      if (from === to) continue;
      this.#change(line, window, from, -1);
      this.#change(line, window, to, 1);
    }
  }

  #change(line: number, window: number, step: number, change: 1 | -1): void {
    const steps = this.#steps[line * WINDOWS.length + window] as Steps;
    let i = steps.length - 2;
    while (i >= 0 && (steps[i] as number) > step) i -= 2;
    if (i >= 0 && steps[i] === step) steps[i + 1] = (steps[i + 1] as number) + change;
    else if (change === 1 && i + 2 === steps.length) steps.push(step, 1);
    else if (change === 1) steps.splice(i + 2, 0, step, 1);
  }

  total(line: number, window: number, nowMs: number): number {
    const first = stepAt(nowMs, window) - STEPS;
    const steps = this.#steps[line * WINDOWS.length + window] as Steps;
    let sum = 0;
    for (let i = steps.length - 2; i >= 0 && (steps[i] as number) > first; i -= 2) sum += steps[i + 1] as number;
    return sum;
  }
}

function stepAt(ms: number, window: number): number {
  return Math.floor(ms / (WINDOWS[window] as (typeof WINDOWS)[number]).stepMs);
}
