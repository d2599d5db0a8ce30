// Plays a random script against the real module and the model side by side.
import { expect } from 'vitest';
import { Problem } from '../../src/problems/problem.ts';
import { QueueModel } from '../support/queue-model.ts';
import type { ModelMessage, ModelSettings, Nack, NewModelMessage, Ref } from '../support/queue-model-types.ts';
import { iso, messageRecord, settingsFields, type View } from '../support/queue-model-wire.ts';
import type { QueueCall } from './in-process.ts';
import type { Pick, Script, Settings, Step } from './script.ts';

const LAST: Settings = { retentionDays: 14, visibility: 300, delay: 0, priority: false, maxReceive: 3, hasDlq: false };
// Each queue's dead-letter queue is the next one.
const chain = ['source', 'dead', 'buried'];
const DRAIN_SECONDS = 40_000;

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Item = any;

interface Held extends Ref {
  readonly receipt: string;
  readonly queue: string;
}

/** Plays one script. Every answer must be the model's; after most steps also the statistics and the next messages. */
export class Player {
  readonly #call: QueueCall;
  readonly #script: Script;
  readonly #prefix: string;
  readonly #model: QueueModel;
  /** Answers of the first publish, by number. */
  readonly #published: Item[] = [];
  readonly #held: Held[] = [];
  /** Queues about which nothing is undecided. */
  readonly #settled = new Set<string>();
  /** What was done, for the reader of a failure. */
  readonly log: string[] = [];

  constructor(call: QueueCall, script: Script, prefix: string, nowMs: number) {
    this.#call = call;
    this.#script = script;
    this.#prefix = prefix;
    const settings = [...script.settings, LAST].map((own, i) => [chain[i] as string, this.#settings(own, i)] as const);
    this.log.push(script.fifo ? 'FIFO queues' : 'standard queues');
    for (const [queue, own] of settings) this.log.push(`${queue}: ${JSON.stringify(own)}`);
    this.#model = new QueueModel(script.fifo, new Map(settings), nowMs);
  }

  /** Messages published and dead-letterings so far. */
  get totals(): { published: number; deadLettered: number } {
    return this.#model;
  }

  async open(): Promise<void> {
    for (const [queue, settings] of [...this.#model.queues].reverse()) {
      const type = this.#script.fifo ? 'fifo' : 'standard';
      await this.#call('create', {
        name: this.#name(queue),
        type,
        ...settingsFields(settings, (other) => this.#name(other)),
      });
    }
    await this.#publish('source', this.#script.start);
  }

  async close(): Promise<void> {
    for (const queue of chain) await this.#call('delete', { queue: this.#name(queue) });
  }

  async play(epoch: number): Promise<void> {
    for (const step of this.#script.epochs[epoch] ?? []) {
      const queue = chain[step.at] as string;
      // What time has decided in earlier queues brings messages here; only this queue may be undecided.
      for (const earlier of chain.slice(0, step.at)) if (!this.#settled.has(earlier)) await this.#compareStats(earlier);
      await this.#step(queue, step);
      this.#settled.delete(queue);
      if (step.look || step.do === 'update') await this.#compare(queue);
    }
    for (const queue of chain) await this.#compareStats(queue);
  }

  /** The clock has moved by `ms`. */
  async advance(ms: number): Promise<void> {
    this.log.push(`clock +${ms / 1000} s`);
    this.#settled.clear();
    // Retained away is decided by the look: until then a receipt may still act.
    if (this.#model.advance(ms)) for (const queue of chain) await this.#compareStats(queue);
  }

  /** Takes out all that there is, once nothing is delayed or leased any more. */
  async drain(): Promise<void> {
    for (const queue of chain) {
      await this.#compareDead(queue);
      while ((await this.#consume(queue, 10, DRAIN_SECONDS)) > 0);
      await this.#compareStats(queue);
    }
  }

  #name(queue: string): string {
    return `${this.#prefix}.${queue}`;
  }

  #settings({ hasDlq, ...own }: Settings, i: number): ModelSettings {
    return { ...own, priority: own.priority && !this.#script.fifo, dlq: hasDlq ? (chain[i + 1] ?? null) : null };
  }

  async #step(queue: string, step: Step): Promise<void> {
    switch (step.do) {
      case 'publish':
        return this.#publish(queue, step.batch);
      case 'consume':
        // A group takes its place among others when it is decided who is its head.
        if (this.#script.fifo && new Set(this.#model.in(queue).map(({ group }) => group)).size > 1)
          await this.#compareStats(queue);
        await this.#consume(queue, step.limit, step.seconds);
        return;
      case 'ack':
        return this.#ack(queue, this.#refs(queue, step.picks));
      case 'nack':
        return this.#nack(queue, this.#refs(queue, step.picks), step);
      case 'extend':
        return this.#extend(queue, this.#refs(queue, [step.pick]), step.seconds);
      case 'purge': {
        this.log.push(`purge ${queue}`);
        const { purged } = await this.#call('purge', { queue: this.#name(queue) });
        return expect(purged, 'purged').toBe(this.#model.purge(queue));
      }
      case 'redrive':
        return this.#redrive(queue, step.max, step.only);
      case 'update':
        return this.#update(queue, step.at, step.change);
    }
  }

  async #publish(queue: string, batch: Extract<Step, { do: 'publish' }>['batch']): Promise<void> {
    const { fifo } = this.#script;
    const messages: NewModelMessage[] = batch.map(({ priority, group, dedup, delay }) =>
      fifo ? { delay, group, dedup } : { delay, priority },
    );
    const first = this.#published.length;
    const inputs = messages.map((one, i) => ({
      payload: { n: first + i },
      delay_seconds: one.delay,
      priority: one.priority,
      message_group_id: one.group,
      deduplication_id: one.dedup,
    }));
    this.log.push(`publish ${queue} ${messages.map((one, i) => `${first + i} ${JSON.stringify(one)}`).join(', ')}`);
    const name = this.#name(queue);
    const items: Item[] =
      inputs.length === 1
        ? [await this.#call('publish', { queue: name, ...inputs[0] })]
        : (await this.#call('batch.publish', { queue: name, items: inputs })).items;
    const expected = this.#model.publish(queue, messages, first);
    expect(numbers(items), 'published').toEqual(expected.map(({ n }) => n));
    // The numbers of duplicates stay unused.
    for (const [i, item] of items.entries()) this.#published[first + i] = this.#published[item.payload.n] ?? item;
    expect(items, 'as published').toEqual(
      expected.map((one) =>
        one.n < first
          ? this.#published[one.n]
          : this.#record(one, queue, { status: 'available', availableMs: one.visibleMs }),
      ),
    );
  }

  /** Answers how many messages came. */
  async #consume(queue: string, max: number, visibility: number | undefined): Promise<number> {
    const input = { queue: this.#name(queue), max_messages: max, visibility_timeout: visibility };
    const { items } = await this.#call('consume', input);
    const expected = this.#model.consume(queue, max, visibility);
    const taken = expected.map(({ n, delivery }) => `${n}#${delivery}`).join(' ');
    this.log.push(`consume ${queue} max ${max} for ${visibility ?? 'the default'} s: ${taken || 'nothing'}`);
    expect(numbers(items), 'delivered').toEqual(expected.map(({ n }) => n));
    expect(items, 'as delivered').toEqual(
      expected.map((one) => ({
        ...this.#record(one, queue, { ...one, status: 'in_flight' }),
        receipt_handle: expect.stringMatching(/^rcpt_/),
      })),
    );
    for (const [i, { n, delivery }] of expected.entries())
      this.#held.push({ n, delivery, queue, receipt: items[i].receipt_handle });
    return items.length;
  }

  async #ack(queue: string, held: readonly Held[]): Promise<void> {
    this.log.push(`ack ${queue} ${shown(held)}`);
    const results = await this.#settle('ack', queue, held, {});
    const expected = this.#model.ack(queue, held);
    expect(
      results.map((result) => result.acked),
      'acked',
    ).toEqual(expected);
  }

  async #nack(queue: string, held: readonly Held[], { delay, requeue, reason }: Nack): Promise<void> {
    this.log.push(`nack ${queue} ${shown(held)}, delay ${delay} s${requeue ? '' : ', not requeued'}: ${reason}`);
    const results = await this.#settle('nack', queue, held, { delay_seconds: delay, requeue, reason });
    const expected = this.#model.nack(queue, held, { delay, requeue, reason });
    expect(
      results.map((one) => [one.nacked, one.status, one.requeue, one.delivery_count, one.available_at]),
      'nacked',
    ).toEqual(
      expected.map((one) =>
        one === null
          ? [false, null, requeue, null, null]
          : [true, one.status, one.status === 'available', one.count, iso(one.availableMs)],
      ),
    );
  }

  /** One ref goes as itself, several as a list. */
  async #settle(operation: string, queue: string, held: readonly Held[], fields: object): Promise<Item[]> {
    const receipts = held.map(({ receipt }) => receipt);
    const refs = receipts.length === 1 ? { receipt_handle: receipts[0] } : { receipts };
    const answer = await this.#call(operation, { queue: this.#name(queue), ...refs, ...fields });
    return receipts.length === 1 ? [answer] : answer.items;
  }

  async #extend(queue: string, held: readonly Held[], seconds: number): Promise<void> {
    this.log.push(`extend ${queue} ${shown(held)} to ${seconds} s`);
    const [answer] = await this.#settle('extend', queue, held, { visibility_timeout: seconds });
    const endMs = this.#model.extend(queue, held[0] as Held, seconds);
    expect([answer.extended, answer.visibility_timeout_expires_at], 'extended').toEqual([
      endMs !== null,
      endMs === null ? null : iso(endMs),
    ]);
  }

  async #redrive(queue: string, max: number | undefined, picks: readonly number[] | undefined): Promise<void> {
    const dead = this.#model.dead(queue);
    const only = picks?.map((pick) => dead[pick % Math.max(1, dead.length)]?.n ?? 0);
    this.log.push(`redrive ${queue} ${only?.join(' ') ?? 'all'}, at most ${max ?? 'all'}`);
    const moved = this.#model.redrive(queue, only, max);
    const answer = await this.#call('dlq.redrive', {
      queue: this.#name(queue),
      message_ids: only?.map((n) => this.#published[n].message_id),
      max_messages: max,
    }).catch((error: Error) => ({ state: error instanceof Problem ? error.code : error, moved: null }));
    expect(answer, 'redriven').toMatchObject({ state: moved === null ? 'STATE_CONFLICT' : 'completed', moved });
    await this.#compareDead(queue);
  }

  async #update(queue: string, i: number, own: Partial<Settings>): Promise<void> {
    const { hasDlq, ...rest } = own;
    const change: Partial<ModelSettings> = rest;
    if (change.priority) change.priority = !this.#script.fifo;
    if (hasDlq !== undefined) change.dlq = hasDlq ? (chain[i + 1] ?? null) : null;
    this.log.push(`update ${queue} ${JSON.stringify(change)}`);
    await this.#call('update', { queue: this.#name(queue), ...settingsFields(change, (other) => this.#name(other)) });
    this.#model.update(queue, change);
  }

  /** Receipts and ids of deliveries: the latest ones from the queue, or from any. */
  #refs(queue: string, picks: readonly Pick[]): Held[] {
    return picks.map(({ back, byId, stale }) => {
      const held = stale ? this.#held : this.#held.filter((one) => one.queue === queue);
      const one = held.at(stale ? -1 - 3 * back : -1 - back) ?? held.at(0);
      if (one === undefined) return { n: -1, delivery: null, queue, receipt: 'rcpt_of_nothing' };
      return byId ? { ...one, delivery: null, receipt: this.#published[one.n].message_id } : one;
    });
  }

  /** A look at a queue settles what time has decided about it. */
  async #compare(queue: string): Promise<void> {
    await this.#compareStats(queue);
    const { items } = await this.#call('peek', { queue: this.#name(queue), limit: 10 });
    const expected = this.#model.next(queue, 10);
    expect(numbers(items), `next of ${queue}`).toEqual(expected.map(({ n }) => n));
    expect(items, `next of ${queue}`).toEqual(
      expected.map((one) => this.#record(one, queue, { status: 'available', availableMs: one.visibleMs })),
    );
  }

  async #compareStats(queue: string): Promise<void> {
    const { queue: _, ...stats } = await this.#call('stats', { queue: this.#name(queue) });
    expect(stats, `stats of ${queue}`).toEqual(this.#model.stats(queue));
    this.#settled.add(queue);
  }

  async #compareDead(queue: string): Promise<void> {
    const { items } = await this.#call('dlq.list', { queue: this.#name(queue), limit: 100 });
    expect(items, `dead of ${queue}`).toEqual(
      this.#model.dead(queue).map((one) => ({
        ...this.#record(one, queue, { status: 'dlq', availableMs: one.retainMs }),
        dlq_name: this.#name(one.queue),
        dead_lettered_at: iso(one.retainMs),
        reason: one.reason,
      })),
    );
  }

  #record(one: ModelMessage, queue: string, view: Omit<View, 'queue'>) {
    return messageRecord(one, this.#published[one.n], { ...view, queue: this.#name(queue) });
  }
}

const numbers = (items: readonly Item[]) => items.map((item) => item.payload.n);
const shown = (held: readonly Held[]) =>
  held.map(({ n, delivery }) => (n < 0 ? 'nothing' : delivery === null ? `${n} by id` : `${n}#${delivery}`)).join(', ');
