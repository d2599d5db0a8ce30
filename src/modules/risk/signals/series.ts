// How often a key was seen, and with how many distinct partners of each other kind, in windows of 60 steps. Both are sums over steps: a
// sighting stands in its step for good; a partner stands in the step of its last sighting only, and moves when it is seen again. So the
// numbers are exact, and a key costs at most 60 numbers a line and window, however often it is seen.
import { KINDS } from './keys.ts';

const STEPS = 60;
/** A window is the running step and the 59 before it. */
export const WINDOWS = [
  { name: '1m', stepMs: 1_000 },
  { name: '1h', stepMs: 60_000 },
  { name: '24h', stepMs: 24 * 60_000 },
  { name: '7d', stepMs: 168 * 60_000 },
  { name: '30d', stepMs: 720 * 60_000 },
] as const;
/** Of a key of one kind: sightings, then partners of the kinds, of which its own stays empty. */
const LINES = 1 + KINDS.length;
export const SIGHTINGS = 0;
export const lineOf = (place: number): number => 1 + place;

/** Pairs of a step and what it holds, flat, oldest first. Every call decodes and encodes some hundred: plain loops take a quarter of the time. */
type Steps = number[];

const HEAD_BYTES = 6;
/** Of a step: its age, then up to five of its count. */
const STEP_BYTES_MAX = 6;

export class Series {
  /** By line and window. */
  readonly #steps: Steps[];
  /** No step begins after this. */
  #latestMs: number;

  private constructor(steps: Steps[], latestMs: number) {
    this.#steps = steps;
    this.#latestMs = latestMs;
  }

  static empty(): Series {
    return new Series(
      Array.from({ length: LINES * WINDOWS.length }, () => []),
      0,
    );
  }

  static decode(bytes: Buffer): Series {
    const latestMs = bytes.readUIntBE(0, HEAD_BYTES);
    const numbers = new Varints(bytes, HEAD_BYTES);
    const all: Steps[] = [];
    for (let i = 0; i < LINES * WINDOWS.length; i += 1) {
      const latest = stepAt(latestMs, i % WINDOWS.length);
      const steps: Steps = [];
      for (let left = numbers.next(); left > 0; left -= 1) steps.push(latest - numbers.next(), numbers.next());
      all.push(steps);
    }
    return new Series(all, latestMs);
  }

  encode(): Buffer {
    let most = HEAD_BYTES + this.#steps.length;
    for (const steps of this.#steps) most += (steps.length / 2) * STEP_BYTES_MAX;
    const bytes = Buffer.allocUnsafe(most);
    let at = bytes.writeUIntBE(this.#latestMs, 0, HEAD_BYTES);
    for (let i = 0; i < this.#steps.length; i += 1) {
      const steps = this.#steps[i] as Steps;
      const latest = stepAt(this.#latestMs, i % WINDOWS.length);
      const countAt = at;
      bytes[at++] = 0;
      for (let j = 0; j < steps.length; j += 2) {
        const [age, count] = [latest - (steps[j] as number), steps[j + 1] as number];
        if (age >= STEPS || count <= 0) continue;
        bytes[at++] = age;
        at = putVarint(bytes, at, count);
        bytes[countAt] = (bytes[countAt] as number) + 1;
      }
    }
    return bytes.subarray(0, at);
  }

  add(line: number, atMs: number, change: 1 | -1 = 1): void {
    if (atMs > this.#latestMs) this.#latestMs = atMs;
    for (let window = 0; window < WINDOWS.length; window += 1) {
      const steps = this.#steps[line * WINDOWS.length + window] as Steps;
      const step = stepAt(atMs, window);
      let i = steps.length - 2;
      while (i >= 0 && (steps[i] as number) > step) i -= 2;
      if (i >= 0 && steps[i] === step) steps[i + 1] = (steps[i + 1] as number) + change;
      else if (change === 1) steps.splice(i + 2, 0, step, 1);
    }
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

/** Whole numbers, seven bits a byte, the lowest first. */
export function varints(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * (STEP_BYTES_MAX - 1));
  let at = 0;
  for (const number of numbers) at = putVarint(bytes, at, number);
  return bytes.subarray(0, at);
}

/** Below 2^35. Answers where the next one goes. */
function putVarint(bytes: Buffer, at: number, number: number): number {
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128;
  bytes[at++] = rest;
  return at;
}

export class Varints {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  next(): number {
    for (let number = 0, unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at] as number;
      this.#at += 1;
      number += (byte % 128) * unit;
      if (byte < 128) return number;
    }
  }
}
