// Execution of a query: finds the candidates of its selectors in the database, reads the blocks of its time range, and evaluates both in a
// thread. A small query without regular expressions is evaluated on the calling thread, since the way to a thread takes longer.
import type { BlockRef, ScanTask, StoredBlock } from '../../../blocks/block.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { LISTED_MAX, QUERY_BYTES_MAX, QUERY_CHARACTERS_MAX, QUERY_MS, STEPS_MAX } from '../limits.ts';
import { costOf } from '../promql/cost.ts';
import { type QueryRange, stepsOf } from '../promql/select.ts';
import { tooComplex } from '../promql/too-complex.ts';
import { columnsOf } from '../samples/kind.ts';
import type { MetricsState } from '../state.ts';
import { candidatesOf, marksOf, nameOf, type PlainMatcher, type SeriesPage, sampleIds } from './candidates.ts';
import type { ListKind, ListText } from './lists.ts';
import type { ResultText } from './result.ts';
import type { PlainSelection, Told, Where } from './tasks.ts';

/** So little is done here. */
const HERE_CHARACTERS = 500;
const HERE_SERIES = 200;
const HERE_BYTES = 64 * 1024;
/** As `costOf` counts them: below 5 ms. */
const HERE_VALUES = 2_000;
/** Beyond the query's own bound, which it tells better itself. */
const GRACE_MS = 500;
const PIECE_BLOCKS = 16;
const none = async (): Promise<StoredBlock[]> => [];
/** Loaded with the first question: grammar and expressions take memory that many services never need. */
const tasks = () => import('./tasks.ts');

/** For whom a query is answered: a call, or a rule of alerts. */
export type Asker = Pick<CallContext, 'core' | 'accountId' | 'signal'>;

/** That the query answers a number or an instant vector. Throws as `ask`. */
export async function requireQuery(ctx: Asker, query: string): Promise<void> {
  const range = { startMs: 0, endMs: 0, stepMs: 1 };
  const isShort = query.length <= HERE_CHARACTERS;
  await runScan(ctx, (await tasks()).readQuery, none, { query, range, as: 'range' as const }, isShort, QUERY_MS);
}

/** Throws VALIDATION_FAILED and UNSUPPORTED_QUERY. */
export async function ask(
  ctx: Asker,
  { store }: MetricsState,
  query: string,
  range: QueryRange,
  as: 'instant' | 'range',
): Promise<ResultText> {
  const untilMs = performance.now() + QUERY_MS;
  if (query.length > QUERY_CHARACTERS_MAX)
    throw invalidField('query', 'maxLength', `A query may have at most ${QUERY_CHARACTERS_MAX} characters.`);
  const steps = stepsOf(range);
  if (steps > STEPS_MAX) {
    throw invalidField(
      'step',
      'maximum',
      `The query has ${steps} steps; at most ${STEPS_MAX} are answered. Use a larger step.`,
    );
  }
  const isShort = query.length <= HERE_CHARACTERS;
  const read = await runScan(ctx, (await tasks()).readQuery, none, { query, range, as }, isShort, QUERY_MS);
  const firstKeptMs = await store.firstKeptMs(ctx.accountId);
  const selections = read.selections.map((each) => ({ ...each, fromMs: Math.max(each.fromMs, firstKeptMs) }));
  const pages = await pagesOf(ctx, selections);
  const ids = sampleIds(pages.flat());
  const refs = ids.length === 0 ? [] : await blocksFor(ctx.accountId, store, selections);
  const series = pages.flat().reduce((sum, { count }) => sum + count, 0);
  const bytes = refs.reduce((sum, ref) => sum + ref.bytes, 0);
  const cost = costOf(read.expression.root, {
    range,
    series: pages.map((of) => of.reduce((sum, { count }) => sum + count, 0)),
    samples: refs.reduce((sum, { records }) => sum + records, 0),
  });
  const isLittle =
    isShort && !read.hasExpressions && series <= HERE_SERIES && bytes <= HERE_BYTES && cost <= HERE_VALUES;
  const blocks = () => readAll(ctx.accountId, store, refs, columnsOf(ids), ctx.signal);
  const leftMs = untilMs - performance.now();
  return runScan(
    ctx,
    (await tasks()).evaluateQuery,
    blocks,
    { expression: read.expression, range, as, selections, pages, leftMs },
    isLittle,
    leftMs + GRACE_MS,
  );
}

/** A list of what series that match any of the selectors have, those that have samples between the times. */
export async function list(
  ctx: Asker,
  kind: ListKind,
  selectors: readonly (readonly PlainMatcher[])[],
  time: { readonly fromMs: number; readonly toMs: number },
  limit = LISTED_MAX,
): Promise<ListText> {
  const pages = await pagesOf(
    ctx,
    selectors.map((matchers) => ({ matchers, ...time })),
  );
  const series = pages.flat().reduce((sum, { count }) => sum + count, 0);
  return runScan(
    ctx,
    (await tasks()).listSeries,
    none,
    { kind, selectors, pages, limit },
    series <= HERE_SERIES,
    QUERY_MS,
  );
}

/** The matchers of each selector. Throws as a query does, also for what is no selector alone. */
export async function matchersOf(ctx: Asker, selectors: readonly string[]): Promise<PlainMatcher[][]> {
  const range = { startMs: 0, endMs: 0, stepMs: 1 };
  const all: PlainMatcher[][] = [];
  for (const query of selectors) {
    if (query.length > QUERY_CHARACTERS_MAX)
      throw invalidField('match', 'maxLength', `A selector may have at most ${QUERY_CHARACTERS_MAX} characters.`);
    const isShort = query.length <= HERE_CHARACTERS;
    const asked = { query, range, as: 'selector' as const };
    const read = await runScan(ctx, (await tasks()).readQuery, none, asked, isShort, QUERY_MS);
    all.push([...(read.selections[0] as PlainSelection).matchers]);
  }
  return all;
}

async function pagesOf(ctx: Asker, selections: readonly PlainSelection[]): Promise<SeriesPage[][]> {
  const pages: SeriesPage[][] = [];
  for (const { matchers, ...time } of selections) {
    pages.push(time.toMs < time.fromMs ? [] : await candidatesOf(ctx.core.db, ctx.accountId, matchers, time));
  }
  return pages;
}

/** Blocks that may have the samples, in the order of their commits: the later one of two samples counts. */
async function blocksFor(
  accountId: string,
  store: MetricsState['store'],
  selections: readonly PlainSelection[],
): Promise<BlockRef[]> {
  const fromMs = Math.min(...selections.map((each) => each.fromMs));
  const toMs = Math.max(...selections.map((each) => each.toMs)) + 1;
  const marks = marksOf(selections.map(({ matchers }) => nameOf(matchers)));
  const refs = await store.list(accountId, { fromMs, toMs, marks });
  return refs.toSorted((a, b) => (a.blockId < b.blockId ? -1 : Number(a.blockId > b.blockId)));
}

async function readAll(
  accountId: string,
  store: MetricsState['store'],
  refs: readonly BlockRef[],
  columns: readonly string[],
  signal: AbortSignal,
): Promise<StoredBlock[]> {
  const blocks: StoredBlock[] = [];
  let bytes = 0;
  for (let at = 0; at < refs.length; at += PIECE_BLOCKS) {
    signal.throwIfAborted();
    const piece = await store.read(accountId, refs.slice(at, at + PIECE_BLOCKS), columns);
    bytes += bytesOf(piece);
    if (bytes > QUERY_BYTES_MAX)
      throw tooComplex('The query reads too many samples. Name the metric, or ask for a shorter time.');
    blocks.push(...piece);
  }
  return blocks;
}

function bytesOf(blocks: readonly StoredBlock[]): number {
  return blocks.reduce((sum, { columns }) => sum + columns.values().reduce((of, { length }) => of + length, 0), 0);
}

const tooLate = () => tooComplex('The query takes too long. Ask for fewer series, or a shorter time.');

/** What the task makes of blocks, here or in a thread of at most `msMax`; they are read when it is its turn. What only a thread may do goes there. */
async function runScan<Args extends Where, Answer>(
  ctx: Asker,
  task: ScanTask<Args, Told<Answer>>,
  blocks: () => Promise<StoredBlock[]>,
  asked: Omit<Args, 'here'>,
  here: boolean,
  msMax: number,
): Promise<Answer> {
  const args = { ...asked, here } as Args;
  const prepare = async () => ({ source: task.source, exportName: task.id, blocks: await blocks(), args });
  const { core, accountId, signal } = ctx;
  const told = here
    ? task.run(await blocks(), args)
    : ((await core.blockThreads.run(accountId, prepare, signal, { msMax, tooLate })) as Told<Answer>);
  if ('answer' in told) return told.answer;
  if ('needsThread' in told) return runScan(ctx, task, blocks, asked, false, msMax);
  const [code, entry, options] = told.failure;
  throw new Problem(code, entry, options);
}
