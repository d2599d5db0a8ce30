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

/** Steps and what they hold, oldest first. */
type Steps = [step: number, count: number][];

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
    const latestMs = bytes.readUIntBE(0, 6);
    const numbers = new Varints(bytes, 6);
    const steps = Array.from({ length: LINES * WINDOWS.length }, (_, i): Steps => {
      const latest = stepAt(latestMs, i % WINDOWS.length);
      return Array.from({ length: numbers.next() }, () => [latest - numbers.next(), numbers.next()]);
    });
    return new Series(steps, latestMs);
  }

  encode(): Buffer {
    const numbers: number[] = [];
    this.#steps.forEach((steps, i) => {
      const latest = stepAt(this.#latestMs, i % WINDOWS.length);
      const kept = steps.filter(([step, count]) => step > latest - STEPS && count > 0);
      numbers.push(kept.length);
      for (const [step, count] of kept) numbers.push(latest - step, count);
    });
    const head = Buffer.alloc(6);
    head.writeUIntBE(this.#latestMs, 0, 6);
    return Buffer.concat([head, varints(numbers)]);
  }

  add(line: number, atMs: number, change: 1 | -1 = 1): void {
    if (atMs > this.#latestMs) this.#latestMs = atMs;
    for (let window = 0; window < WINDOWS.length; window += 1) {
      const steps = this.#steps[line * WINDOWS.length + window] as Steps;
      const step = stepAt(atMs, window);
      const i = steps.findLastIndex(([at]) => at <= step);
      const there = steps[i];
      if (there !== undefined && there[0] === step) there[1] += change;
      else if (change === 1) steps.splice(i + 1, 0, [step, 1]);
    }
  }

  total(line: number, window: number, nowMs: number): number {
    const first = stepAt(nowMs, window) - STEPS;
    let sum = 0;
    for (const [step, count] of this.#steps[line * WINDOWS.length + window] as Steps) if (step > first) sum += count;
    return sum;
  }
}

function stepAt(ms: number, window: number): number {
  return Math.floor(ms / (WINDOWS[window] as (typeof WINDOWS)[number]).stepMs);
}

/** Whole numbers, seven bits a byte, the lowest first. */
export function varints(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (let number of numbers) {
    while (number >= 128) {
      bytes.push((number % 128) + 128);
      number = Math.floor(number / 128);
    }
    bytes.push(number);
  }
  return Buffer.from(bytes);
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
