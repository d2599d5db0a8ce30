// One service and short ways to call it for tests of error tracking.
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { AccountBench, type Data } from '../support/bench.ts';
import type { Reply } from '../support/service.ts';

type Fields = Record<string, unknown>;

export const CAPTURE_NANOS = 50_000n;

export class ErrorsBench extends AccountBench {
  capture(fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/errors/capture', fields);
  }

  tryCapture(fields: Fields = {}): Promise<Reply> {
    return this.call('POST', '/v1/errors/capture', fields);
  }

  get(eventId: string): Promise<Data> {
    return this.ok('GET', `/v1/errors/get/${eventId}`);
  }

  detail(groupId: string): Promise<Data> {
    return this.ok('GET', `/v1/errors/group_detail/${groupId}`);
  }

  change(what: string, groupId: string, fields: Fields = {}): Promise<Data> {
    return this.ok('POST', `/v1/errors/${what}/${groupId}`, fields);
  }

  list(query: Fields = {}): Promise<Data> {
    return this.ok('GET', `/v1/errors/list?${parameters(query)}`);
  }

  search(q: string, query: Fields = {}): Promise<Data> {
    return this.ok('GET', `/v1/errors/search?${parameters({ q, ...query })}`);
  }

  groups(query: Fields = {}): Promise<Data> {
    return this.ok('GET', `/v1/errors/groups?${parameters(query)}`);
  }

  events(groupId: string, query: Fields = {}): Promise<Data> {
    return this.ok('GET', `/v1/errors/events/${groupId}?${parameters(query)}`);
  }

  /** Types and objects of what was told since the start of the account, in order. */
  async told(): Promise<{ type: string; object: Data; requestId: string | null }[]> {
    const { db } = this.service.core;
    await sequenceAccount(db, this.account.accountId);
    const { rows } = await db.query<{ type: string; data: string; request_id: string | null }>(
      {
        name: 'test_errors_told',
        text: `SELECT type, data, request_id FROM core.event WHERE account_id = $1 AND type LIKE 'error.%' ORDER BY sequence`,
      },
      [this.account.accountId],
    );
    return rows.map((row) => ({ type: row.type, object: JSON.parse(row.data).object, requestId: row.request_id }));
  }

  /** One number from the database, for what no answer shows. */
  async number(text: string): Promise<number> {
    const statement = { name: '', text: text.replaceAll('$account', `'${this.account.accountId}'`) };
    const { rows } = await this.service.core.db.query<{ number: number }>(statement, []);
    return (rows[0] as { number: number }).number;
  }
}

/** Two processes on one database. */
export class ErrorsPair {
  readonly #one: ErrorsBench;
  readonly #two: ErrorsBench;

  private constructor(one: ErrorsBench, two: ErrorsBench) {
    this.#one = one;
    this.#two = two;
  }

  static async start(): Promise<ErrorsPair> {
    const one = await ErrorsBench.start();
    return new ErrorsPair(one, await ErrorsBench.start({ database: one.service.database, account: one.account }));
  }

  /** An account of its own on both processes. */
  async both(): Promise<[ErrorsBench, ErrorsBench]> {
    const first = await this.#one.withAccount();
    return [first, new ErrorsBench(this.#two.service, first.account)];
  }

  async stop(): Promise<void> {
    await this.#two.service.stop();
    await this.#one.service.stop();
  }
}

export function parameters(query: Fields): URLSearchParams {
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(pairs);
}
