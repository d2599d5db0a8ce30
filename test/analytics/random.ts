// Events and questions at random, from few names and values, so that questions have answers.
import { DAY_MS } from './harness.ts';
import type { RefEvent } from './reference.ts';

export type Random = (below: number) => number;

export const DAYS = 7;
const HOUR_MS = 3_600_000;
const NAMES = ['view', 'sign_up', 'buy', 'leave', '$pageview', 'Größe 数'];
const PROPERTIES = ['plan', 'amount', 'place', '__proto__x', 'rare1', 'nobody has it', 'a b'];
const VALUES = ['free', 'pro', 'team', 'PRO', '', '10', 10, 0, -3.5, 99, true, false, 'Größe', '数'];
const IDS = Array.from({ length: 24 }, (_, i) => `u${i}`);
const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'gt',
  'gte',
  'lt',
  'lte',
  'is_set',
  'is_not_set',
];
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

// biome-ignore lint/suspicious/noExplicitAny: conditions of every shape
type Data = any;

export class RandomEvents {
  readonly startMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAYS * DAY_MS;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  one<T>(of: readonly T[]): T {
    return of[this.#random(of.length)] as T;
  }

  id(): string {
    return this.one(IDS);
  }

  name(): string {
    return this.one(NAMES);
  }

  /** Null: any event. */
  nameOrAny(): string | null {
    return this.#random(4) === 0 ? null : this.name();
  }

  property(): string {
    return this.one(PROPERTIES);
  }

  /** Many share a moment. */
  time(): string {
    const step = this.one([1, 1_000, HOUR_MS]);
    return new Date(this.startMs + Math.floor(this.#random(DAYS * DAY_MS) / step) * step).toISOString();
  }

  /** In the order of time. */
  events(count: number): RefEvent[] {
    const times = Array.from({ length: count }, () => this.time()).sort();
    return times.map((timestamp) => this.#event(timestamp));
  }

  #event(timestamp: string): RefEvent {
    const distinct_id = this.id();
    const kind = this.#random(100);
    if (kind < 3) return { event: '$identify', distinct_id, timestamp, properties: { $anon_distinct_id: this.id() } };
    if (kind < 5) return { event: '$create_alias', distinct_id, timestamp, properties: { alias: this.id() } };
    if (kind < 6) return { event: '$merge_dangerously', distinct_id, timestamp, properties: { alias: this.id() } };
    const names = Array.from({ length: this.#random(4) }, () =>
      this.one(PROPERTIES.filter((each) => each !== 'nobody has it')),
    );
    const properties = Object.fromEntries(names.map((name) => [name, this.one(VALUES)]));
    if (this.#random(20) === 0) properties.$user_agent = BOT;
    return { event: this.name(), distinct_id, timestamp, properties };
  }

  filter(): Data[] {
    return Array.from({ length: Math.max(0, this.#random(4) - 1) }, () => {
      const operator = this.one(OPERATORS);
      const field = this.property();
      if (operator.startsWith('is_') && operator.endsWith('set')) return { field, operator };
      if (/^[gl]te?$/.test(operator)) return { field, operator, value: this.one([0, 10, 50]) };
      return {
        field,
        operator,
        value: this.#random(3) === 0 ? [this.one(VALUES), this.one(VALUES)] : this.one(VALUES),
      };
    });
  }

  /** Whole days, whole hours, or any moment. */
  period(): { readonly from: string; readonly to: string } {
    const step = this.one([DAY_MS, HOUR_MS, 1]);
    const moment = () => Math.floor(this.#random(DAYS * DAY_MS + 1) / step) * step;
    const [a, b] = [moment(), moment()];
    const [first, last] = [Math.min(a, b), Math.max(a, b)];
    return {
      from: new Date(this.startMs + first).toISOString(),
      to: new Date(this.startMs + last + step).toISOString(),
    };
  }
}
