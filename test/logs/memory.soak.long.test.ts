// The questions' own functions over blocks in memory, packed and merged as stored ones are, answer what a plain look at each record says:
// 10,000 of them in a soak. The whole way, by HTTP, is that of reference.soak.test.ts.
import { expect, test } from 'vitest';
import { BlockThreads } from '../../src/blocks/threads.ts';
import { admission } from '../../src/core/admission.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { takeFew } from '../../src/modules/logs/ingest/intake.ts';
import { readyRecords } from '../../src/modules/logs/ingest/native-record.ts';
import { LogBatch } from '../../src/modules/logs/records/batch.ts';
import { logsKind, ordersOf } from '../../src/modules/logs/records/kind.ts';
import { levels } from '../../src/modules/logs/records/levels.ts';
import { packRecords } from '../../src/modules/logs/records/pack.ts';
import { fieldsOf } from '../../src/modules/logs/search/fields.ts';
import { findPage } from '../../src/modules/logs/search/find.ts';
import { countByTime } from '../../src/modules/logs/search/histogram.ts';
import { questionOf, type SentFilter } from '../../src/modules/logs/search/question.ts';
import type { Position } from '../../src/modules/logs/search/scan.ts';
import type { LogsState } from '../../src/modules/logs/state.ts';
import { MemoryBlocks } from '../support/memory-blocks.ts';
import { isSoak, randomOf, rounds, seed } from '../support/soak.ts';
import { type Filter, type LogRecord, Reference } from './harness.ts';
import { RandomLogs } from './random.ts';

const HOUR_MS = 3_600_000;
const QUESTIONS = isSoak ? 500 : 100;
const CALLS = 24;
const signal = new AbortController().signal;
type Random = (below: number) => number;

class Logs {
  readonly blocks = new MemoryBlocks(logsKind);
  readonly reference = new Reference();
  readonly nowMs = Date.now();
  readonly #state: LogsState;
  #calls = 0;

  constructor(blockThreads: BlockThreads) {
    this.#state = { core: { blockThreads }, store: this.blocks } as unknown as LogsState;
  }

  ingest(records: LogRecord[]): void {
    const ready = readyRecords({ items: records }, this.nowMs);
    expect([ready.records, ready.rejected]).toEqual([records.length, []]);
    this.#calls += 1;
    const ms = this.nowMs + this.#calls;
    let blockId = sequenceAt(ms);
    for (const draft of ready.drafts) {
      this.blocks.add(blockId, draft);
      blockId += BigInt(draft.records);
    }
    const batch = new LogBatch();
    takeFew(batch, ready.few);
    const numbers = { ms: ready.few.map(() => ms), low: ready.few.map((_, i) => i) };
    for (const order of ordersOf(batch))
      this.blocks.add(sequenceAt(ms) + BigInt(Math.min(...order)), packRecords(batch, order, numbers));
    this.reference.add(records);
  }

  async find(filter: Filter, isNewestFirst: boolean, limit: () => number): Promise<LogRecord[]> {
    const found: LogRecord[] = [];
    let after: Position | null = null;
    do {
      const args = { question: questionOf(filter as SentFilter, this.nowMs), after, isNewestFirst, limit: limit() };
      const page = await findPage(this.#state, 'acc_1', args, signal);
      expect(page.records.length).toBeLessThanOrEqual(args.limit);
      found.push(...page.records.map(({ json }) => JSON.parse(json) as LogRecord));
      after = page.next;
    } while (after !== null);
    return found;
  }

  async counts(filter: Filter, intervalMs: number) {
    const { buckets, isComplete } = await countByTime(
      this.#state,
      'acc_1',
      questionOf(filter as SentFilter, this.nowMs),
      intervalMs,
      signal,
    );
    expect(isComplete).toBe(true);
    const named = [...buckets].map(([at, counts]) => [new Date(at).toISOString(), levelsOf(counts)] as const);
    return new Map(named);
  }

  async fields(filter: Filter) {
    const {
      levels: byLevel,
      services,
      names,
      isComplete,
    } = await fieldsOf(this.#state, 'acc_1', questionOf(filter as SentFilter, this.nowMs), signal);
    expect(isComplete).toBe(true);
    return { levels: levelsOf(byLevel), services, names };
  }
}

const levelsOf = (counts: readonly number[]) => Object.fromEntries(levels.map((level, i) => [level, counts[i]]));

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

async function askOne(logs: Logs, source: RandomLogs, random: Random, i: number): Promise<void> {
  const filter = source.filter();
  const wanted = logs.reference.find(filter);
  const said = JSON.stringify(filter);
  if (i % 4 === 0) {
    const interval = [1_800_000, 60_000, 3_600_000, 7_000][random(4)] as number;
    expect(await logs.counts(filter, interval), said).toEqual(logs.reference.counts(filter, interval));
  } else if (i % 4 === 1) {
    const { from, to } = filter;
    const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const records = logs.reference.find(period);
    expect(await logs.fields(period), said).toEqual({
      levels: levelsOf(levels.map((each) => records.filter(({ level }) => level === each).length)),
      services: counted(records.map(({ service }) => service)),
      names: counted(records.flatMap(({ attributes }) => Object.keys(attributes))),
    });
  } else {
    const isNewestFirst = i % 4 === 2;
    const found = await logs.find(filter, isNewestFirst, () => 1 + random(200));
    expect(found, said).toEqual(isNewestFirst ? wanted : wanted.toReversed());
  }
}

test.each(Array.from({ length: rounds(20) }, (_, i) => seed + i))(
  'as the reference, over blocks in memory (seed %i)',
  { timeout: 120_000 },
  async (from) => {
    const random = randomOf(from);
    const threads = new BlockThreads(admission.all);
    const logs = new Logs(threads);
    const source = new RandomLogs(random, logs.nowMs, 8 * HOUR_MS);
    for (let call = 0; call < CALLS; call += 1) {
      logs.ingest(source.records(call % 8 === 0 ? 150 : 12));
      if (random(15) === 0) logs.blocks.merge(2 + random(6), () => random(2) === 0);
    }
    for (let i = 0; i < QUESTIONS; i += 1) {
      if (i % 100 === 50) logs.blocks.merge(2 + random(6), () => random(3) > 0);
      await askOne(logs, source, random, i);
    }
    expect(new Set(logs.blocks.levels).size).toBeGreaterThan(1);
    await threads.close();
  },
);
