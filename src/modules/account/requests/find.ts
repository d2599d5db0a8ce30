// Looks for short calls in blocks, mostly in threads.
import type { ScanTask, StoredBlock } from '../../../blocks/block.ts';
import type { RequestFilter, StoredRequest } from '../../../core/requests/store.ts';
import { callMarks, StoredCalls } from './kind.ts';

export interface FindArgs {
  readonly filter: RequestFilter;
  /** Null: any. */
  readonly requestId: string | null;
  /** Numbers from the first on, and below the second. */
  readonly fromSeq: bigint;
  readonly untilSeq: bigint;
  readonly limit: number;
}

/** The newest `limit` calls of the blocks that match. */
export const findCalls: ScanTask<FindArgs, StoredRequest[]> = {
  source: import.meta.url,
  id: 'findCalls',
  run: (blocks, args) =>
    newestOf(
      blocks.flatMap((block) => matchesIn(block, args)),
      args.limit,
    ),
};

/** The newest first, each once: a commit that was in doubt may have been made twice. */
export function newestOf(calls: readonly StoredRequest[], limit: number): StoredRequest[] {
  const once = [...new Map(calls.map((call) => [call.seq, call])).values()];
  return once.sort((a, b) => (a.seq > b.seq ? -1 : 1)).slice(0, limit);
}

function matchesIn(block: StoredBlock, args: FindArgs): StoredRequest[] {
  const stored = new StoredCalls(block);
  const found: StoredRequest[] = [];
  for (let record = stored.records - 1; record >= 0 && found.length < args.limit; record -= 1) {
    const seq = stored.seq(record);
    if (seq < args.fromSeq) break;
    if (seq < args.untilSeq && matches(stored, record, args)) found.push(stored.call(record));
  }
  return found;
}

function matches(stored: StoredCalls, record: number, { filter, requestId }: FindArgs): boolean {
  const { status, capability, callerId, entryForm, traceId } = filter;
  return (
    (status === null || stored.integer('status', record) === status) &&
    (capability === null || stored.value('capability', record) === capability) &&
    (callerId === null || stored.value('caller_id', record) === callerId) &&
    (entryForm === null || stored.value('entry_form', record) === entryForm) &&
    (traceId === null || stored.text('trace_id', record) === traceId) &&
    (requestId === null || stored.text('request_id', record) === requestId)
  );
}

/** The marks of a block that holds an answer. */
export function marksOf({ filter, requestId }: Pick<FindArgs, 'filter' | 'requestId'>): string[] {
  const { status, capability, callerId, entryForm, traceId } = filter;
  const marks = [
    status === null ? null : callMarks.status(status),
    capability === null ? null : callMarks.capability(capability),
    callerId === null ? null : callMarks.callerId(callerId),
    entryForm === null ? null : callMarks.entryForm(entryForm),
    traceId === null ? null : callMarks.traceId(traceId),
    requestId === null ? null : callMarks.requestId(requestId),
  ];
  return marks.filter((mark) => mark !== null);
}
