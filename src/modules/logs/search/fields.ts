// Counts records of a time range by service, level and attribute name. Uses the summaries of blocks, and reads the blocks that cross the range's
// edges.
import type { BlockRef } from '../../../blocks/block.ts';
import { listBySpans, reckonSummaries } from '../../../blocks/summaries.ts';
import { SPAN_MS } from '../limits.ts';
import { levels } from '../records/levels.ts';
import type { LogsState } from '../state.ts';
import { type Question, tooLate } from './question.ts';
import { count, countFields, type FieldCounts } from './scan.ts';
import { countToldFields } from './summary-scan.ts';

const COLUMNS = ['time', 'level', 'service', 'name', 'shape', 'shape_id', 'value_id'];

export interface Fields extends FieldCounts {
  /** False: services or attributes are missing, of which a block had too many. */
  readonly isComplete: boolean;
}

export async function fieldsOf(
  { core, store }: LogsState,
  accountId: string,
  question: Question,
  signal: AbortSignal,
): Promise<Fields> {
  const { fromMs, toMs } = question;
  const counts: FieldCounts = { levels: levels.map(() => 0), services: new Map(), names: new Map() };
  const addAll = (more: FieldCounts) => {
    for (const [level, records] of more.levels.entries())
      counts.levels[level] = (counts.levels[level] as number) + records;
    addCounts(counts.services, more.services);
    addCounts(counts.names, more.names);
  };
  const edges: BlockRef[] = [];
  let isComplete = true;
  for await (const refs of listBySpans(store, accountId, { fromMs, toMs }, SPAN_MS)) {
    const summaries: Uint8Array[] = [];
    for (const ref of refs) {
      if (ref.fromMs >= fromMs && ref.toMs < toMs && ref.summary !== null) summaries.push(ref.summary);
      else edges.push(ref);
    }
    const told = await reckonSummaries({ core, accountId, signal, tooLate }, countToldFields, { summaries });
    addAll(told);
    isComplete &&= told.isComplete;
  }
  const work = { columns: COLUMNS, task: countFields, args: { question }, tooLate };
  for await (const part of store.scan(accountId, edges, work, signal)) addAll(part);
  return { ...counts, isComplete };
}

function addCounts(counts: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [text, records] of more) count(counts, text, records);
}
