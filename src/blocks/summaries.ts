// Reads block summaries over long times. They are listed and processed in pieces, so that neither memory nor the event loop holds all at once.

import { setImmediate as turn } from 'node:timers/promises';
import type { BlockRef, ScanTask } from './block.ts';
import type { BlockQuestion } from './list.ts';
import type { BlockStore } from './store.ts';
import type { BlocksPart } from './threads.ts';

/** Spans are listed together until they have so many blocks, with a summary of up to 64 KiB each. */
const BLOCKS_AT_ONCE = 256;
/** Summaries of so few bytes take less time here than the way to a thread. */
const HERE_BYTES = 32 * 1024;

/**
 * The blocks of a time with their summaries. Whole spans are listed at one instant: a block lies within a span, so one that is merged meanwhile
 * counts once.
 */
export async function* listBySpans(
  store: BlockStore,
  accountId: string,
  question: Pick<BlockQuestion, 'fromMs' | 'toMs'>,
  spanMs: number,
): AsyncGenerator<BlockRef[]> {
  const refs = await store.list(accountId, question);
  for (const period of piecesOf(question, refs, spanMs)) {
    yield await store.list(accountId, { ...period, withSummary: true });
    await turn();
  }
}

function* piecesOf(
  { fromMs, toMs }: Pick<BlockQuestion, 'fromMs' | 'toMs'>,
  refs: readonly BlockRef[],
  spanMs: number,
) {
  const spans = Map.groupBy(refs, (ref) => Math.floor(ref.fromMs / spanMs) * spanMs);
  let [start, blocks] = [fromMs, 0];
  for (const [span, { length }] of [...spans].sort(([a], [b]) => a - b)) {
    if (blocks > 0 && blocks + length > BLOCKS_AT_ONCE) {
      yield { fromMs: start, toMs: span };
      [start, blocks] = [span, 0];
    }
    blocks += length;
  }
  if (blocks > 0) yield { fromMs: start, toMs };
}

export interface SummaryWork {
  readonly core: BlocksPart;
  readonly accountId: string;
  readonly signal: AbortSignal;
  /** As in ThreadTime. */
  tooLate(): Error;
}

/** What the task makes of the summaries: of a few here, of many in a thread. */
export function reckonSummaries<Args extends { readonly summaries: readonly Uint8Array[] }, Answer>(
  work: SummaryWork,
  task: ScanTask<Args, Answer>,
  args: Args,
): Promise<Answer> {
  const bytes = args.summaries.reduce((sum, { length }) => sum + length, 0);
  return reckon(work, task, args, bytes <= HERE_BYTES);
}

/** What the task makes of its arguments alone, here or in a thread. Throws the reason of `signal`, CONCURRENCY_LIMITED, OVERLOADED. */
export async function reckon<Args, Answer>(
  { core, accountId, signal, tooLate }: SummaryWork,
  task: ScanTask<Args, Answer>,
  args: Args,
  isLittle: boolean,
): Promise<Answer> {
  signal.throwIfAborted();
  if (isLittle) return task.run([], args);
  const prepare = async () => ({ source: task.source, exportName: task.id, blocks: [], args });
  return (await core.blockThreads.run(accountId, prepare, signal, { tooLate })) as Answer;
}
