// The block kind of logs: batches to blocks when records are stored, and the merging of stored blocks.
import type { BlockDraft, BlockKind, StoredBlock } from '../../../blocks/block.ts';
import { BLOCK_RECORDS_MAX, KEEP_DAYS, SPAN_MS } from '../limits.ts';
import { LogBatch } from './batch.ts';
import { NONE } from './interned.ts';
import { packRecords, type RecordNumbers } from './pack.ts';
import { StoredLog } from './stored-log.ts';

export const logsKind: BlockKind = {
  name: 'logs',
  source: import.meta.url,
  exportName: 'logsKind',
  spanMs: SPAN_MS,
  recordsMax: BLOCK_RECORDS_MAX,
  keepDays: KEEP_DAYS,
  hotDays: 3,
  merge: mergeLogs,
};

/** The records of a batch by their spans, each in the order of time. */
export function ordersOf({ times }: LogBatch): number[][] {
  const spans = Map.groupBy(times.keys(), (i) => Math.floor((times[i] as number) / SPAN_MS));
  return [...spans.values()].map((order) => order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b));
}

/** A batch as blocks: numbers of records are those of their blocks and on. */
export function draftsOf(batch: LogBatch): BlockDraft[] {
  return ordersOf(batch).map((order) => packRecords(batch, order, null));
}

/** Stored records taken into one batch, with their numbers. */
export function takeStored(blocks: readonly StoredBlock[]): {
  readonly batch: LogBatch;
  readonly numbers: RecordNumbers;
} {
  const batch = new LogBatch();
  const numbers = { ms: [] as number[], low: [] as number[] };
  for (const block of blocks) {
    const log = new StoredLog(block);
    takeLog(batch, log);
    log.numbersInto(numbers);
  }
  return { batch, numbers };
}

function mergeLogs(blocks: readonly StoredBlock[]): BlockDraft[] {
  const { batch, numbers } = takeStored(blocks);
  const { times } = batch;
  const { ms, low } = numbers;
  const at = (of: readonly number[], i: number) => of[i] as number;
  const order = [...times.keys()].sort(
    (a, b) => at(times, a) - at(times, b) || at(ms, a) - at(ms, b) || at(low, a) - at(low, b),
  );
  const drafts: BlockDraft[] = [];
  for (let from = 0; from < order.length; from += BLOCK_RECORDS_MAX) {
    drafts.push(packRecords(batch, order.slice(from, from + BLOCK_RECORDS_MAX), numbers));
  }
  return drafts;
}

/** What is stored is clean: it is taken as it is. */
function takeLog(batch: LogBatch, log: StoredLog): void {
  const { services, messages, messageIds, values, names, resources, records } = log;
  const service = lazily(services.values.length, (id) => batch.serviceTexts.id(services.values[id] as string));
  const message = lazily(messages.length, (id) => batch.messageTexts.id(messages.at(id)));
  const value = lazily(values.length, (id) => batch.valueTexts.id(values.at(id)));
  const name = lazily(names.length, (id) => batch.nameTexts.id(names[id] as string));
  const resource = lazily(resources?.values.length ?? 0, (id) => resourceOf(batch, resources?.values[id] ?? null));
  const take = (nameId: number, valueId: number) => {
    batch.names.push(name(nameId));
    batch.values.push(value(valueId));
  };
  for (let record = 0; record < records; record += 1) {
    batch.times.push(log.times[record] as number);
    batch.levels.push(log.levels[record] as number);
    batch.services.push(service(services.ids[record] as number));
    batch.messages.push(message(messageIds[record] as number));
    log.eachAttribute(record, take);
    batch.ends.push(batch.names.length);
    batch.traces.push(batch.traceTexts.id(log.traceId(record)));
    batch.spans.push(batch.spanTexts.id(log.spanId(record)));
    batch.resources.push(resources === null ? NONE : resource(resources.ids[record] as number));
    batch.cuts.push(log.isCut(record));
  }
}

function resourceOf({ resourceTexts }: LogBatch, json: string | null): number {
  return json === null ? NONE : resourceTexts.id(json);
}

/** What `make` answers, which is asked once for each number. */
function lazily(size: number, make: (id: number) => number): (id: number) => number {
  const UNKNOWN = -2;
  const known = new Int32Array(size).fill(UNKNOWN);
  return (id) => {
    let made = known[id] as number;
    if (made === UNKNOWN) {
      made = make(id);
      known[id] = made;
    }
    return made;
  };
}
