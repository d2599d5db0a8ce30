// LRU of a worker's collections, within the budget of all workers: evicts the least recently used first, never one in use.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Resident } from '../collection/resident.ts';
import type { MemoryBudget } from './budget.ts';

/** How long another worker may take to give room before this one goes without. */
const PRESS_FOR_MS = 250;
const PRESS_PAUSE_MS = 5;

export interface Held {
  readonly key: string;
  resident: Resident | null;
  /** Calls that need it now. */
  pins: number;
  /** What it will surely take once it is loaded. */
  reservedBytes: number;
}

/** The same in every thread, and small enough for the budget. */
const secondsNow = () => Math.floor((performance.timeOrigin + performance.now()) / 1000 - 1.7e9);

interface ShelfEvents {
  onEvict(held: Held): void;
  /** Another worker holds what has been idle longest. */
  onPressure(): void;
}

export class Shelf {
  readonly #budget: MemoryBudget;
  readonly #worker: number;
  readonly #events: ShelfEvents;
  /** From the least recently used on; only what is resident. */
  readonly #order = new Map<string, { readonly held: Held; bytes: number; stamp: number }>();
  #bytes = 0;

  constructor(budget: MemoryBudget, worker: number, events: ShelfEvents) {
    this.#budget = budget;
    this.#worker = worker;
    this.#events = events;
  }

  /** Takes note of a collection's size and that it was used just now. */
  touch(held: Held): void {
    const known = this.#order.get(held.key);
    const bytes = Math.max(held.resident?.bytes ?? 0, held.reservedBytes);
    if (bytes === 0) {
      this.#publish();
      return;
    }
    this.#bytes += bytes - (known?.bytes ?? 0);
    this.#order.delete(held.key);
    this.#order.set(held.key, { held, bytes, stamp: secondsNow() });
    this.#publish();
  }

  /** Takes note of its size, though nobody asked for it. */
  noteSize(held: Held): void {
    const known = this.#order.get(held.key);
    if (known === undefined) return;
    const bytes = Math.max(held.resident?.bytes ?? 0, held.reservedBytes);
    this.#bytes += bytes - known.bytes;
    known.bytes = bytes;
    this.#publish();
  }

  /** Frees what is held of it. */
  drop(held: Held): void {
    held.resident?.dispose();
    held.resident = null;
    held.reservedBytes = 0;
    const known = this.#order.get(held.key);
    if (known === undefined) return;
    this.#bytes -= known.bytes;
    this.#order.delete(held.key);
    this.#publish();
  }

  /** Evicts until `bytes` more fit. False when all that is left is in use. */
  async makeRoom(bytes: number): Promise<boolean> {
    let pressedUntil: number | undefined;
    while (this.#budget.totalBytes + bytes > this.#budget.bytesMax) {
      const worker = this.#budget.oldestWorker();
      if (worker === undefined) return false;
      if (worker === this.#worker) {
        if (!this.evictOldest()) return false;
        continue;
      }
      pressedUntil ??= performance.now() + PRESS_FOR_MS;
      if (performance.now() > pressedUntil) return this.evictOldest() && this.makeRoom(bytes);
      this.#events.onPressure();
      await sleep(PRESS_PAUSE_MS);
    }
    return true;
  }

  evictOldest(): boolean {
    for (const { held } of this.#order.values()) {
      if (held.pins > 0) continue;
      this.drop(held);
      this.#events.onEvict(held);
      return true;
    }
    this.#publish();
    return false;
  }

  /** To be called when a collection comes into use or out of it. */
  notePinned(): void {
    this.#publish();
  }

  #publish(): void {
    this.#budget.setHeld(this.#worker, this.#bytes);
    let oldest: number | null = null;
    for (const { held, stamp } of this.#order.values()) {
      if (held.pins > 0) continue;
      oldest = stamp;
      break;
    }
    this.#budget.setOldest(this.#worker, oldest);
  }
}
