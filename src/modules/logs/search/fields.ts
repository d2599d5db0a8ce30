// Which services, levels and attributes the records of a time have, and how many of them: from the summaries of blocks, and from the blocks that
// reach beyond the time.
import type { BlockRef } from '../../../core/blocks/block.ts';
import { levels } from '../records/levels.ts';
import { readSummary } from '../records/summary.ts';
import type { LogsState } from '../state.ts';
import type { Question } from './question.ts';
import { count, countFields, type FieldCounts } from './scan.ts';

const COLUMNS = ['time', 'level', 'service', 'name', 'shape', 'shape_id', 'value_id'];

export interface Fields extends FieldCounts {
  /** False: services or attributes are missing, of which a block had too many. */
  readonly isComplete: boolean;
}

export async function fieldsOf(
  { store }: LogsState,
  accountId: string,
  question: Question,
  signal: AbortSignal,
): Promise<Fields> {
  const { fromMs, toMs } = question;
  const refs = await store.list(accountId, { fromMs, toMs, withSummary: true });
  const counts: FieldCounts = { levels: levels.map(() => 0), services: new Map(), names: new Map() };
  const edges: BlockRef[] = [];
  let isComplete = true;
  for (const ref of refs) {
    if (ref.fromMs < fromMs || ref.toMs >= toMs) {
      edges.push(ref);
      continue;
    }
    const summary = readSummary(ref.summary as Buffer);
    summary.eachCell((_, level, records) => {
      counts.levels[level] = (counts.levels[level] as number) + records;
    });
    addCounts(counts.services, summary.services);
    addCounts(counts.names, summary.names);
    isComplete &&= summary.hasAllServices && summary.hasAllNames;
  }
  const work = { columns: COLUMNS, task: countFields, args: { question } };
  for await (const part of store.scan(accountId, edges, work, signal)) {
    for (const [level, records] of part.levels.entries())
      counts.levels[level] = (counts.levels[level] as number) + records;
    addCounts(counts.services, part.services);
    addCounts(counts.names, part.names);
  }
  return { ...counts, isComplete };
}

function addCounts(counts: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [text, records] of more) count(counts, text, records);
}
