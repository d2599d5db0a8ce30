// Scan tasks over block summaries, without their records; many summaries are scanned in threads.
import type { ScanTask } from '../../../blocks/block.ts';
import { levels } from '../records/levels.ts';
import { readSummary } from '../records/summary.ts';
import { type CellList, Cells, count, type FieldCounts } from './scan.ts';

interface Summaries {
  readonly summaries: readonly Uint8Array[];
}

export interface ToldCountArgs extends Summaries {
  readonly intervalMs: number;
  /** Graver ones count too. */
  readonly level: number;
}

/** Records of each interval and level. */
export const countTold: ScanTask<ToldCountArgs, CellList> = {
  source: import.meta.url,
  id: 'countTold',
  run(_, { summaries, intervalMs, level: least }) {
    const cells = new Cells(intervalMs);
    for (const summary of summaries) {
      readSummary(summary).eachCell((minuteMs, level, records) => {
        if (level >= least) cells.add(minuteMs, level, records);
      });
    }
    return cells.list();
  },
};

export interface ToldFields extends FieldCounts {
  /** False: a block had more services or attributes than it tells. */
  readonly isComplete: boolean;
}

export const countToldFields: ScanTask<Summaries, ToldFields> = {
  source: import.meta.url,
  id: 'countToldFields',
  run(_, { summaries }) {
    const counts: FieldCounts = { levels: levels.map(() => 0), services: new Map(), names: new Map() };
    let isComplete = true;
    for (const packed of summaries) {
      const summary = readSummary(packed);
      summary.eachCell((_minuteMs, level, records) => {
        counts.levels[level] = (counts.levels[level] as number) + records;
      });
      for (const [text, records] of summary.services) count(counts.services, text, records);
      for (const [text, records] of summary.names) count(counts.names, text, records);
      isComplete &&= summary.hasAllServices && summary.hasAllNames;
    }
    return { ...counts, isComplete };
  },
};
