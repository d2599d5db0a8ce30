// Plays a random script against the real module and the model side by side.
import { expect } from 'vitest';
import { QueueModel } from '../support/queue-model.ts';
import type { Delivered, ModelSettings, Ref } from '../support/queue-model-types.ts';
import type { QueueCall } from './in-process.ts';
import type { Script, Step } from './script.ts';

const DEFAULTS = { retentionDays: 14, visibility: 300, delay: 0, priority: false, maxReceive: 3, hasDlq: true };
// Each queue's dead-letter queue is the next one.
const chain = ['source', 'dead', 'buried'];

interface Held extends Ref {
  readonly receipt: string;
  readonly queue: string;
}

/** Plays one script. Every answer, and after it the statistics and the next messages, must be the model's. */
export class Player {
  readonly #call: QueueCall;
  readonly #script: Script;
  readonly #prefix: string;
  readonly #model: QueueModel;
  readonly #ids: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #held: Held[] = [];

  constructor(call: QueueCall, script: Script, prefix: string, nowMs: number) {
    this.#call = call;
    this.#script = script;
    this.#prefix = prefix;
    const [first, second] = [script.first, script.second].map((own, i) => this.#settings(own, i));
    const last = this.#settings({}, 2);
    this.#model = new QueueModel(
      script.fifo,
      new Map([first, second, last].map((own, i) => [chain[i], own])) as never,
      nowMs,
    );
  }

  get deadLettered(): number {
    return this.#model.deadLettered;
  }

  get published(): number {
    return this.#model.published;
  }

  async open(): Promise<void> {
    for (const queue of [...chain].reverse()) {
      await this.#call('create', {
        name: this.#name(queue),
        type: this.#script.fifo ? 'fifo' : 'standard',
        ...this.#wire(this.#model.queues.get(queue) as ModelSettings),
      });
    }
  }

  async close(): Promise<void> {
    for (const queue of chain) await this.#call('delete', { queue: this.#name(queue) });
  }

  async play(epoch: number): Promise<void> {
    for (const step of this.#script.epochs[epoch] ?? []) {
      await this.#step(step);
      await this.#compare([chain[step.at] as string]);
    }
  }

  async advance(ms: number): Promise<void> {
    this.#model.advance(ms);
    await this.#compare(chain);
  }

  #name(queue: string): string {
    return `${this.#prefix}.${queue}`;
  }

  #settings(own: Partial<typeof DEFAULTS>, i: number): ModelSettings {
    const { hasDlq, ...rest } = { ...DEFAULTS, ...own };
    return { ...rest, priority: rest.priority && !this.#script.fifo, dlq: hasDlq ? (chain[i + 1] ?? null) : null };
  }

  #wire(own: Partial<ModelSettings>): Record<string, unknown> {
    const fields = {
      message_retention_days: own.retentionDays,
      visibility_timeout_default: own.visibility,
      delivery_delay_seconds: own.delay,
      enable_priority: own.priority,
      max_retries: own.maxReceive,
      dead_letter_queue: own.dlq == null ? own.dlq : this.#name(own.dlq),
    };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  async #step(step: Step): Promise<void> {
    const queue = chain[step.at] as string;
    const name = this.#name(queue);
    switch (step.do) {
      case 'publish':
        return this.#publish(queue, step.batch);
      case 'consume':
        return this.#consume(queue, step.limit, step.seconds);
      case 'ack': {
        const { refs, receipts } = this.#refs(queue, step.picks);
        const { results } = await this.#call('ack', { queue: name, receipts });
        expect(results.map((result: { acked: boolean }) => result.acked)).toEqual(this.#model.ack(queue, refs));
        return;
      }
      case 'nack': {
        const { refs, receipts } = this.#refs(queue, step.picks);
        const { delay, requeue } = step;
        const { results } = await this.#call('nack', { queue: name, receipts, delay_seconds: delay, requeue });
        const expected = this.#model.nack(queue, refs, { delay, requeue });
        expect(results.map((result: { status: string | null }) => result.status)).toEqual(expected);
        return;
      }
      case 'extend': {
        const { refs, receipts } = this.#refs(queue, [step.pick]);
        const input = { queue: name, receipt_handle: receipts[0], visibility_timeout: step.seconds };
        expect((await this.#call('extend', input)).extended).toBe(
          this.#model.extend(queue, refs[0] as Ref, step.seconds),
        );
        return;
      }
      case 'purge':
        expect((await this.#call('purge', { queue: name })).purged).toBe(this.#model.purge(queue));
        return;
      case 'redrive':
        return this.#redrive(queue, step.max, step.picks);
      case 'update':
        return this.#update(queue, step.at, step.change);
    }
  }

  async #publish(
    queue: string,
    batch: readonly { priority?: number; delay?: number; group?: string; dedup?: string }[],
  ) {
    const first = this.#ids.length;
    const messages = batch.map(({ priority, group, dedup, delay }) =>
      this.#script.fifo ? { delay, group, dedup } : { delay, priority },
    );
    const { items } = await this.#call('batch.publish', {
      queue: this.#name(queue),
      messages: messages.map((one: { priority?: number; delay?: number; group?: string; dedup?: string }, i) => ({
        payload: { n: first + i },
        delay_seconds: one.delay,
        priority: one.priority,
        message_group_id: one.group,
        deduplication_id: one.dedup,
      })),
    });
    const numbers = batch.map((_, i) => first + i);
    const expected = this.#model.publish(queue, messages, numbers);
    expect(items.map((item: { payload: { n: number } }) => item.payload.n)).toEqual(expected);
    for (const [i, n] of expected.entries()) {
      const id = items[i].message_id as string;
      if (n === first + i) this.#numbers.set(id, n);
      else expect(id).toBe(this.#ids[n]);
      this.#ids.push(id);
    }
  }

  async #consume(queue: string, max: number, visibility: number | undefined): Promise<void> {
    const { items } = await this.#call('consume', {
      queue: this.#name(queue),
      max_messages: max,
      visibility_timeout: visibility,
    });
    const expected = this.#model.consume(queue, max, visibility);
    expect(items.map(shown)).toEqual(expected.map(expectedItem));
    for (const [i, { n, delivery }] of expected.entries())
      this.#held.push({ n, delivery, queue, receipt: items[i].receipt_handle });
  }

  async #redrive(queue: string, max: number | undefined, picks: readonly number[] | undefined): Promise<void> {
    const dead = this.#model.dead(queue);
    const only = picks === undefined ? null : picks.map((pick) => dead[pick % Math.max(1, dead.length)]?.n ?? 0);
    if (only !== null && this.#ids.length === 0) return;
    const input = { message_ids: only?.map((n) => this.#ids[n]), max_messages: max };
    const { state, moved } = await this.#call('dlq.redrive', { queue: this.#name(queue), ...input });
    expect({ state, moved }).toEqual({
      state: 'completed',
      moved: this.#model.redrive(queue, only, max ?? Number.MAX_SAFE_INTEGER),
    });
    const { items } = await this.#call('dlq.list', { queue: this.#name(queue), limit: 100 });
    const left = this.#model.dead(queue).map((message) => `${message.n} after ${message.count} in ${message.queue}`);
    const listed = items.map((item: { payload: { n: number }; delivery_count: number; dlq_name: string }) => {
      return `${item.payload.n} after ${item.delivery_count} in ${item.dlq_name.split('.').at(-1)}`;
    });
    expect(listed).toEqual(left);
  }

  async #update(queue: string, i: number, own: Partial<typeof DEFAULTS>): Promise<void> {
    const { hasDlq, priority, ...rest } = own;
    const change: Partial<ModelSettings> = { ...rest };
    if (priority !== undefined) change.priority = priority && !this.#script.fifo;
    if (hasDlq !== undefined) change.dlq = hasDlq ? (chain[i + 1] ?? null) : null;
    await this.#call('update', { queue: this.#name(queue), ...this.#wire(change) });
    this.#model.update(queue, change);
  }

  /** Receipts and ids of deliveries: the latest ones from the queue, or any. */
  #refs(
    queue: string,
    picks: readonly { at: number; byId: boolean; stale: boolean }[],
  ): { refs: Ref[]; receipts: string[] } {
    const latest = this.#held.filter((held) => held.queue === queue).slice(-5);
    const chosen = picks.map((pick) => {
      const held = pick.stale || latest.length === 0 ? this.#held : latest;
      const one = held[pick.at % Math.max(1, held.length)];
      if (one === undefined) return { n: -1, delivery: null, text: 'rcpt_of_nothing' };
      const { n, delivery, receipt } = one;
      return pick.byId ? { n, delivery: null, text: this.#ids[n] as string } : { n, delivery, text: receipt };
    });
    return { refs: chosen, receipts: chosen.map(({ text }) => text) };
  }

  /** Reads the queues named; a look at one settles what time has decided about it. */
  async #compare(queues: readonly string[]): Promise<void> {
    for (const queue of queues) {
      const name = this.#name(queue);
      const { queue: _, ...stats } = await this.#call('stats', { queue: name });
      expect(stats, `stats of ${queue}`).toEqual(this.#model.stats(queue));
    }
    const [queue] = queues as [string];
    const { items } = await this.#call('peek', { queue: this.#name(queue), limit: 10 });
    expect(
      items.map((item: { payload: { n: number } }) => item.payload.n),
      `peek of ${queue}`,
    ).toEqual(this.#model.next(queue, 10).map((message) => message.n));
  }
}

type Item = {
  payload: { n: number };
  delivery_count: number;
  available_at: string;
  visibility_timeout_expires_at: string;
};

const shown = (item: Item) => [
  item.payload.n,
  item.delivery_count,
  item.available_at,
  item.visibility_timeout_expires_at,
];

const expectedItem = ({ n, count, availableMs, leaseEndMs }: Delivered) => [
  n,
  count,
  new Date(availableMs).toISOString(),
  new Date(leaseEndMs).toISOString(),
];
