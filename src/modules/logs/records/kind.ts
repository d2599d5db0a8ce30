// Logs as blocks: what becomes of a batch when it is stored, and of stored blocks when they are merged.
import type { BlockDraft, BlockKind, StoredBlock } from '../../../core/blocks/block.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { BLOCK_RECORDS_MAX, KEEP_DAYS, SPAN_MS } from '../limits.ts';
import { LogBatch, NONE } from './batch.ts';
import { packRecords, type RecordNumbers } from './pack.ts';
import { lowOf, StoredLog } from './stored-log.ts';

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
  const ms: number[] = [];
  const low: number[] = [];
  for (const block of blocks) {
    const log = new StoredLog(block);
    takeLog(batch, log);
    for (let record = 0; record < log.records; record += 1) {
      const number = log.number(record);
      ms.push(sequenceMs(number));
      low.push(lowOf(number));
    }
  }
  return { batch, numbers: { ms, low } };
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
  const lazily = (texts: (id: number) => string, into: { id(text: string): number }) => {
    const known = new Map<number, number>();
    return (id: number) => {
      let there = known.get(id);
      if (there === undefined) {
        there = into.id(texts(id));
        known.set(id, there);
      }
      return there;
    };
  };
  const { services, messages, messageIds, values, names, resources } = log;
  const service = lazily((id) => services.values[id] as string, batch.serviceTexts);
  const message = lazily((id) => messages.at(id), batch.messageTexts);
  const value = lazily((id) => values.at(id), batch.valueTexts);
  const name = lazily((id) => names[id] as string, batch.nameTexts);
  const resource = lazily((id) => resources?.values[id] as string, batch.resourceTexts);
  for (let record = 0; record < log.records; record += 1) {
    batch.times.push(log.times[record] as number);
    batch.levels.push(log.levels[record] as number);
    batch.services.push(service(services.ids[record] as number));
    batch.messages.push(message(messageIds[record] as number));
    log.eachAttribute(record, (nameId, valueId) => {
      batch.names.push(name(nameId));
      batch.values.push(value(valueId));
    });
    batch.ends.push(batch.names.length);
    const traceId = log.traceId(record);
    const spanId = log.spanId(record);
    batch.traces.push(traceId === null ? NONE : batch.traceTexts.id(traceId));
    batch.spans.push(spanId === null ? NONE : batch.spanTexts.id(spanId));
    const resourceId = resources?.ids[record] ?? NONE;
    const hasResource = resources !== null && resources.values[resourceId] !== null;
    batch.resources.push(hasResource ? resource(resourceId) : NONE);
    batch.cuts.push(log.isCut(record));
  }
}
