// The queues of contract of queue in memory, as plainly as they can be written: what a real queue must do, message by message.
// Time stands still between calls of `advance`; what time alone decides is settled at once.

import type {
  Delivered,
  ModelMessage,
  ModelSettings,
  Nack,
  Nacked,
  NewModelMessage,
  Ref,
} from './queue-model-types.ts';

const DAY_MS = 86_400_000;
const DEDUP_MS = 300_000;

export class QueueModel {
  readonly fifo: boolean;
  readonly queues: Map<string, ModelSettings>;
  messages: ModelMessage[] = [];
  readonly #dedup = new Map<string, { first: ModelMessage; untilMs: number }>();
  #nowMs: number;
  #deliveries = 0;
  published = 0;
  deadLettered = 0;

  constructor(fifo: boolean, queues: Map<string, ModelSettings>, nowMs: number) {
    this.fifo = fifo;
    this.queues = queues;
    this.#nowMs = nowMs;
  }

  /** Answers whether retention took anything. */
  advance(ms: number): boolean {
    this.#nowMs += ms;
    return this.#settleAll();
  }

  /** Numbers the messages from `first` on. Answers them, and for a duplicate the first one. */
  publish(queue: string, batch: readonly NewModelMessage[], first: number): ModelMessage[] {
    const settings = this.#settings(queue);
    return batch.map((fields, i) => {
      const id = `${queue}\n${fields.dedup}`;
      const known = fields.dedup === undefined ? undefined : this.#dedup.get(id);
      if (known !== undefined && known.untilMs > this.#nowMs) return known.first;
      const priority = fields.priority ?? 0;
      const message: ModelMessage = {
        n: first + i,
        publishedMs: this.#nowMs,
        priority,
        group: fields.group ?? '',
        dedup: fields.dedup,
        queue,
        source: null,
        band: bandIn(settings, priority),
        visibleMs: this.#nowMs + (fields.delay ?? settings.delay) * 1000,
        leased: false,
        delivery: 0,
        count: 0,
        base: 0,
        retainMs: this.#nowMs,
        reason: null,
      };
      this.messages.push(message);
      if (fields.dedup !== undefined) this.#dedup.set(id, { first: message, untilMs: this.#nowMs + DEDUP_MS });
      this.published += 1;
      return message;
    });
  }

  /** What a consumer would get now, in order. */
  next(queue: string, limit: number): ModelMessage[] {
    const there = this.in(queue);
    if (!this.fifo) {
      const ready = there.filter((message) => message.visibleMs <= this.#nowMs);
      return ready.sort((a, b) => a.band - b.band || a.visibleMs - b.visibleMs || a.n - b.n).slice(0, limit);
    }
    const groups = [...new Set(there.map((message) => message.group))].map((group) => this.#group(queue, group));
    const ready = groups.filter((group) => !group.some((message) => message.leased));
    ready.sort(([a], [b]) => headOrder(a, b));
    return ready
      .flatMap((group) => {
        const held = group.findIndex((message) => message.visibleMs > this.#nowMs);
        return held === -1 ? group : group.slice(0, held);
      })
      .slice(0, limit);
  }

  consume(queue: string, limit: number, visibility: number | undefined): Delivered[] {
    const leaseEndMs = this.#nowMs + (visibility ?? this.#settings(queue).visibility) * 1000;
    const delivered = this.next(queue, limit).map((message) => {
      const availableMs = message.visibleMs;
      this.#deliveries += 1;
      Object.assign(message, { leased: true, visibleMs: leaseEndMs, delivery: this.#deliveries });
      message.count += 1;
      return { ...message, availableMs, leaseEndMs };
    });
    this.#settleAll();
    return delivered;
  }

  ack(queue: string, refs: readonly Ref[]): boolean[] {
    return refs.map((ref) => {
      const message = this.#leasedBy(queue, ref);
      if (message !== null) this.#remove(message);
      return message !== null;
    });
  }

  /** Answers the new end of the lease, null when the ref names no current one. */
  extend(queue: string, ref: Ref, seconds: number): number | null {
    const message = this.#leasedBy(queue, ref);
    if (message === null) return null;
    const endMs = this.#nowMs + seconds * 1000;
    message.visibleMs = endMs;
    this.#settleAll();
    return endMs;
  }

  /** Per ref what became of its message: null when it was not nacked. */
  nack(queue: string, refs: readonly Ref[], { delay, requeue, reason }: Nack): (Nacked | null)[] {
    const settings = this.#settings(queue);
    const named = new Set<ModelMessage>();
    const messages = refs.map((ref) => {
      const message = this.#leasedBy(queue, ref);
      if (message === null || named.has(message)) return null;
      named.add(message);
      return message;
    });
    if (!requeue) for (const message of named) this.#deadLetter(message);
    else {
      for (const { message, failed } of this.#returnMessages(queue, named)) {
        if (!failed) message.count -= 1;
        if (isExhausted(settings, message)) this.#deadLetter(message);
        else this.#giveBack(message, this.#nowMs + (named.has(message) ? delay * 1000 : 0));
      }
    }
    const results = messages.map((message): Nacked | null => {
      if (message === null) return null;
      const { count } = message;
      if (message.queue === queue && this.messages.includes(message))
        return { status: 'available', count, availableMs: message.visibleMs };
      return { status: settings.dlq === null ? 'deleted' : 'dlq', count, availableMs: this.#nowMs };
    });
    for (const message of named) if (reason !== undefined) message.reason = reason;
    this.#settleAll();
    return results;
  }

  purge(queue: string): number {
    const there = this.in(queue);
    for (const message of there) this.#remove(message);
    return there.length;
  }

  /** Messages of `queue` in dead-letter queues, in publish order. */
  dead(queue: string): ModelMessage[] {
    return this.messages.filter((message) => message.source === queue).sort((a, b) => a.n - b.n);
  }

  /** Answers how many were moved, null when the queue has nothing to do with dead letters. */
  redrive(queue: string, only: readonly number[] | undefined, max = Number.MAX_SAFE_INTEGER): number | null {
    const settings = this.#settings(queue);
    const dead = this.dead(queue);
    if (settings.dlq === null && dead.length === 0) return null;
    const limit = Math.min(max, only === undefined ? dead.length : new Set(only).size);
    const movable = dead.filter((message) => !(message.leased && message.visibleMs > this.#nowMs));
    const moved = movable.filter((message) => only === undefined || only.includes(message.n)).slice(0, limit);
    for (const message of moved) {
      this.#giveBack(message, this.#nowMs);
      Object.assign(message, { queue, source: null, count: 0, base: 0, retainMs: this.#nowMs, reason: null });
      message.band = bandIn(settings, message.priority);
    }
    return moved.length;
  }

  update(queue: string, change: Partial<ModelSettings>): void {
    const before = { ...this.#settings(queue) };
    const after = Object.assign(this.#settings(queue), change);
    const stricter = after.dlq !== null && (before.dlq === null || after.maxReceive < before.maxReceive);
    for (const message of stricter ? this.in(queue) : []) {
      const running = message.leased && message.visibleMs > this.#nowMs;
      if (!running && isExhausted(after, message)) this.#deadLetter(message);
    }
    this.#settleAll();
  }

  stats(queue: string) {
    const there = this.in(queue);
    const later = there.filter((message) => message.visibleMs > this.#nowMs);
    const inFlight = later.filter((message) => message.leased).length;
    const delayed = later.length - inFlight;
    const oldestMs = Math.min(...there.map((message) => message.publishedMs), this.#nowMs);
    return {
      message_count: there.length - delayed,
      available_count: there.length - later.length,
      in_flight_count: inFlight,
      delayed_count: delayed,
      dlq_count: this.dead(queue).length,
      oldest_message_age_seconds: Math.floor((this.#nowMs - oldestMs) / 1000),
    };
  }

  in(queue: string): ModelMessage[] {
    return this.messages.filter((message) => message.queue === queue);
  }

  #settings(queue: string): ModelSettings {
    return this.queues.get(queue) as ModelSettings;
  }

  #group(queue: string, group: string): ModelMessage[] {
    return this.in(queue)
      .filter((message) => message.group === group)
      .sort((a, b) => a.n - b.n);
  }

  #leasedBy(queue: string, ref: Ref): ModelMessage | null {
    const message = this.in(queue).find(({ n }) => n === ref.n);
    if (message === undefined || !message.leased) return null;
    return ref.delivery === null || ref.delivery === message.delivery ? message : null;
  }

  /** In a FIFO group every later delivered message comes back too; only the first has failed. */
  #returnMessages(queue: string, named: ReadonlySet<ModelMessage>): { message: ModelMessage; failed: boolean }[] {
    if (!this.fifo) return [...named].map((message) => ({ message, failed: true }));
    const groups = new Set([...named].map((message) => message.group));
    return [...groups].flatMap((group) => {
      const first = Math.min(...[...named].filter((message) => message.group === group).map(({ n }) => n));
      const back = this.#group(queue, group).filter((message) => message.leased && message.n >= first);
      return back.map((message) => ({ message, failed: message.n === first }));
    });
  }

  /** Answers whether retention took anything. */
  #settleAll(): boolean {
    let taken = 0;
    for (const [queue, settings] of this.queues) {
      const over = this.in(queue).filter((one) => one.retainMs <= this.#nowMs - settings.retentionDays * DAY_MS);
      for (const message of over) this.#remove(message);
      taken += over.length;
      if (this.fifo) this.#settleGroups(queue);
      else {
        const ended = this.in(queue).filter((message) => message.leased && message.visibleMs <= this.#nowMs);
        for (const message of ended) if (isExhausted(settings, message)) this.#deadLetter(message);
      }
    }
    return taken > 0;
  }

  #settleGroups(queue: string): void {
    const settings = this.#settings(queue);
    for (const group of new Set(this.in(queue).map((message) => message.group))) {
      for (;;) {
        const inFlight = this.#group(queue, group).filter((message) => message.leased);
        const endedMs = Math.min(...inFlight.map((message) => message.visibleMs));
        if (endedMs > this.#nowMs) break;
        const first = inFlight.find((message) => message.visibleMs === endedMs) as ModelMessage;
        for (const message of inFlight.filter(({ n }) => n >= first.n)) {
          if (message !== first) message.count -= 1;
          if (isExhausted(settings, message)) this.#deadLetter(message);
          else this.#giveBack(message, endedMs);
        }
      }
    }
  }

  #giveBack(message: ModelMessage, visibleMs: number): void {
    Object.assign(message, { leased: false, visibleMs });
  }

  #deadLetter(message: ModelMessage): void {
    const { dlq } = this.#settings(message.queue);
    if (dlq === null) {
      this.#remove(message);
      return;
    }
    this.deadLettered += 1;
    this.#giveBack(message, this.#nowMs);
    Object.assign(message, { source: message.queue, queue: dlq, base: message.count, retainMs: this.#nowMs });
    message.band = bandIn(this.#settings(dlq), message.priority);
  }

  #remove(message: ModelMessage): void {
    this.messages = this.messages.filter((other) => other !== message);
  }
}

function bandIn(settings: ModelSettings, priority: number): number {
  return settings.priority ? 10 - priority : 10;
}

function isExhausted(settings: ModelSettings, message: ModelMessage): boolean {
  return settings.dlq !== null && message.count - message.base >= settings.maxReceive;
}

function headOrder(a: ModelMessage | undefined, b: ModelMessage | undefined): number {
  return (a as ModelMessage).visibleMs - (b as ModelMessage).visibleMs || (a as ModelMessage).n - (b as ModelMessage).n;
}
