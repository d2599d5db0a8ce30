// Records and questions at random, from few words, so that questions have answers.
import { levels } from '../../src/modules/logs/records/levels.ts';
import type { Filter, LogRecord } from './harness.ts';

type Random = (below: number) => number;

const WORDS = [
  ...[
    'card_declined',
    'PaymentDeclined',
    'timeout',
    'order',
    'user42',
    'Größe',
    '数据库',
    'é́tude',
    'x',
    'checkout/price.ts',
  ],
  ...[
    'connection',
    'reset',
    'refused',
    'İstanbul',
    'a1b2c3d4e5f6',
    '9f86d081884c7d65',
    'ΣΊΣΥΦΟΣ',
    '🙂',
    '"quoted"',
    '\\n',
    '%',
    '{}',
  ],
];
const SERVICES = ['checkout', 'api', 'worker', 'Größe', 'a,b', '='];
const NAMES = ['http.route', 'status', 'user', 'a b', '__proto__', 'constructor', 'é', '', 'x[0]', 'nested', 'list'];
const VALUES: readonly unknown[] = [
  '/v1/orders',
  200,
  500,
  'eu',
  true,
  null,
  '',
  'card_declined',
  1.5,
  -0.25,
  { a: [1, 'deep_word'] },
  ['x', 2],
  '200',
];
const TRACES = [
  '5b8efff798038103d269b633813fc60c',
  '00000000000000000000000000000001',
  'ffffffffffffffffffffffffffffffff',
];

export class RandomLogs {
  readonly #random: Random;
  readonly #startMs: number;
  readonly #spanMs: number;

  /** Records of the time before `endMs`. */
  constructor(random: Random, endMs: number, spanMs: number) {
    this.#random = random;
    this.#startMs = endMs - spanMs;
    this.#spanMs = spanMs;
  }

  one<T>(of: readonly T[]): T {
    return of[this.#random(of.length)] as T;
  }

  time(): string {
    // Many share a millisecond.
    const step = this.one([1, 1_000, 60_000]);
    return new Date(this.#startMs + Math.floor(this.#random(this.#spanMs) / step) * step).toISOString();
  }

  text(): string {
    return Array.from({ length: this.#random(5) }, () => this.one(WORDS)).join(this.one([' ', '_', '', ': ', '\n']));
  }

  record(): LogRecord {
    const names = Array.from({ length: this.#random(5) }, () => this.one(NAMES));
    return {
      timestamp: this.time(),
      level: this.one(levels),
      service: this.one(SERVICES),
      message: this.text(),
      attributes: Object.fromEntries(
        names.map((name) => [name, this.#random(4) === 0 ? this.text() : this.one(VALUES)]),
      ),
      trace_id: this.#random(2) === 0 ? null : this.one(TRACES.slice(0, 2)),
      span_id: this.#random(3) === 0 ? '00f067aa0ba902b7' : null,
    };
  }

  records(most: number): LogRecord[] {
    return Array.from({ length: 1 + this.#random(most) }, () => this.record());
  }

  filter(): Filter {
    const filter: Record<string, unknown> = {};
    const sometimes = (below: number, name: string, value: () => unknown) => {
      if (this.#random(below) === 0) filter[name] = value();
    };
    sometimes(2, 'q', () => this.question());
    sometimes(4, 'from', () => this.time());
    sometimes(4, 'to', () => this.time());
    sometimes(4, 'service', () => this.one([...SERVICES, 'nobody']));
    sometimes(3, 'level', () => this.one(levels));
    sometimes(5, 'trace_id', () => this.one(TRACES));
    sometimes(4, 'filter', () => {
      const value = this.one(VALUES.filter((each) => each === null || typeof each !== 'object'));
      const plain = typeof value === 'string' ? value : JSON.stringify(value);
      return { [this.one(NAMES.filter((name) => name !== '__proto__'))]: plain };
    });
    return filter as Filter;
  }

  question(): string {
    const word = this.one(WORDS);
    const cut = word.slice(0, 1 + this.#random(word.length));
    return this.#random(2) === 0 ? cut : `${this.one(WORDS)} ${cut}`;
  }
}
