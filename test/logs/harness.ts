// One service and short ways to call it for tests of logs, and the plain reference: the same records in memory, filtered one by one.
import { BlockStore } from '../../src/blocks/store.ts';
import { holdsWords, searchedWords, storedWords } from '../../src/lib/words/words.ts';
import { logsKind } from '../../src/modules/logs/records/kind.ts';
import { levels } from '../../src/modules/logs/records/levels.ts';
import { AccountBench, type Data, sweepAll } from '../support/bench.ts';

export interface LogRecord {
  readonly timestamp: string;
  readonly level: (typeof levels)[number];
  readonly service: string;
  readonly message: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly trace_id: string | null;
  readonly span_id: string | null;
}

export interface Filter {
  readonly q?: string;
  readonly from?: string;
  readonly to?: string;
  readonly service?: string;
  readonly level?: string;
  readonly trace_id?: string;
  /** Values of attributes. */
  readonly filter?: Readonly<Record<string, string>>;
}

export class LogsBench extends AccountBench {
  ingest(records: readonly object[]): Promise<Data> {
    return this.ok('POST', '/v1/logs/ingest', { items: records });
  }

  search(filter: object = {}): Promise<Data> {
    return this.ok('GET', `/v1/logs/search?${query(filter)}`);
  }

  histogram(filter: object = {}): Promise<Data> {
    return this.ok('GET', `/v1/logs/histogram?${query(filter)}`);
  }

  fields(filter: object = {}): Promise<Data> {
    return this.ok('GET', `/v1/logs/fields?${query(filter)}`);
  }

  /** A request of another protocol. */
  async post(
    path: string,
    body: string | Uint8Array,
    headers: Record<string, string>,
    secret = this.account.secret,
  ): Promise<{ status: number; headers: Headers; body: Buffer }> {
    const reply = await fetch(`${this.service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, ...headers },
      body: body as BodyInit,
    });
    return { status: reply.status, headers: reply.headers, body: Buffer.from(await reply.arrayBuffer()) };
  }

  sweep(name: 'merge' | 'retention' | 'replaced'): Promise<void> {
    return sweepAll(new BlockStore(this.service.core, logsKind).sweeps(), `logs.${name}`);
  }

  /** Blocks of the account by level, those that are listed. */
  async blocks(): Promise<Record<number, number>> {
    const { rows } = await this.service.core.db.query<{ level: number; blocks: bigint }>(
      {
        name: 'test_logs_blocks',
        text: 'SELECT level, count(*) AS blocks FROM core.block WHERE account_id = $1 AND replaced_ms IS NULL GROUP BY level',
      },
      [this.account.accountId],
    );
    return Object.fromEntries(rows.map(({ level, blocks }) => [level, Number(blocks)]));
  }
}

export function query(filter: object): URLSearchParams {
  const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, text(value)]));
}

/** Records by time, then as they were stored. */
export class Reference {
  readonly #calls: LogRecord[][] = [];
  /** Newest first; null: records have come since. */
  #sorted: readonly LogRecord[] | null = null;

  add(records: readonly LogRecord[]): void {
    this.#calls.push([...records]);
    this.#sorted = null;
  }

  /** Newest first. */
  find(filter: Filter): LogRecord[] {
    this.#sorted ??= this.#sort();
    return this.#sorted.filter((record) => matches(record, filter));
  }

  #sort(): readonly LogRecord[] {
    const all = this.#calls.flatMap((records, call) =>
      records.map((record, place) => ({ record, call, place, at: Date.parse(record.timestamp) })),
    );
    all.sort((a, b) => b.at - a.at || b.call - a.call || b.place - a.place);
    return all.map(({ record }) => record);
  }

  counts(filter: Filter, intervalMs: number): Map<string, Record<string, number>> {
    const buckets = new Map<string, Record<string, number>>();
    for (const { timestamp, level } of this.find(filter)) {
      const at = new Date(Math.floor(Date.parse(timestamp) / intervalMs) * intervalMs).toISOString();
      const counts = buckets.get(at) ?? Object.fromEntries(levels.map((each) => [each, 0]));
      counts[level] = (counts[level] as number) + 1;
      buckets.set(at, counts);
    }
    return buckets;
  }
}

const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function matches(record: LogRecord, { q, from, to, service, level, trace_id, filter = {} }: Filter): boolean {
  const at = Date.parse(record.timestamp);
  if (from !== undefined && at < Date.parse(from)) return false;
  if (to !== undefined && at >= Date.parse(to)) return false;
  if (service !== undefined && record.service !== service) return false;
  if (level !== undefined && levels.indexOf(record.level) < levels.indexOf(level as 'info')) return false;
  if (trace_id !== undefined && record.trace_id !== trace_id) return false;
  for (const [key, value] of Object.entries(filter)) {
    if (!Object.hasOwn(record.attributes, key) || plain(record.attributes[key]) !== value) return false;
  }
  if (q === undefined) return true;
  return holdsWords(storedWords([record.message, ...Object.values(record.attributes).map(plain)]), searchedWords(q));
}
