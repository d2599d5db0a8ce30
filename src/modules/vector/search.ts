// A query: the engine finds ids, the database gives what belongs to them. A row that changed between the two is searched for again.
import type { CallContext } from '../../core/context.ts';
import { problem } from '../../problems/problem.ts';
import { type CollectionRow, findCollection, refOf } from './collection-store.ts';
import { refuseUnfit } from './embedding.ts';
import { CollectionGone, type SearchResult } from './engine/port.ts';
import { findItems, type ItemRow } from './item-store.ts';
import type { QueryBody } from './query-body.ts';
import { NumberWriter } from './render.ts';
import type { VectorState } from './state.ts';

const TRIES_MAX = 4;

/** JSON text of `data`. `row` was read after the call came. Throws the Problems of a refusal. */
export async function answerQueries(
  ctx: CallContext,
  { engine }: VectorState,
  body: QueryBody,
  row: CollectionRow,
): Promise<string> {
  let collection = row;
  for (let tries = 1; ; tries += 1) {
    for (const { vector, isZero, at } of body.queries) refuseUnfit({ length: vector.length, isZero }, collection, at);
    const results = await search(ctx, engine, body, collection);
    if (results !== null) {
      const rows = await rowsOf(ctx, body, collection, results);
      const settled = rows === null || results.every(({ matches }) => matches.every((match) => isCurrent(rows, match)));
      if (settled || tries >= TRIES_MAX) return render(engine.name, body, collection, results, rows);
    }
    const now = await findCollection(ctx.core.db, ctx.accountId, body.collection);
    if (now === null || (results === null && tries >= TRIES_MAX)) throw collectionNotFound();
    collection = now;
  }
}

export function collectionNotFound() {
  return problem('COLLECTION_NOT_FOUND', { param: 'collection' });
}

/** Null when the collection was deleted meanwhile. */
async function search(
  ctx: CallContext,
  engine: VectorState['engine'],
  { queries, exact }: QueryBody,
  collection: CollectionRow,
): Promise<SearchResult[] | null> {
  const searches = queries.map(({ vector, topK, filter }) => ({ vector, topK, filter, exact }));
  try {
    return await engine.search(refOf(collection), searches, ctx.signal);
  } catch (error) {
    if (error instanceof CollectionGone) return null;
    // Nobody waits for the answer any more, or the service stops.
    if (ctx.signal.aborted) throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error });
    throw error;
  }
}

type Rows = ReadonlyMap<string, ItemRow>;

/** Null when nothing of them is asked for. */
async function rowsOf(
  ctx: CallContext,
  { withMetadata, withValues }: QueryBody,
  collection: CollectionRow,
  results: readonly SearchResult[],
): Promise<Rows | null> {
  if (!withMetadata && !withValues) return null;
  const ids = [...new Set(results.flatMap(({ matches }) => matches.map(({ id }) => id)))];
  if (ids.length === 0) return new Map();
  const rows = await findItems(ctx.core.db.hot, collection, ids, withValues);
  return new Map(rows.map((row) => [row.id, row]));
}

function isCurrent(rows: Rows, match: { readonly id: string; readonly version: number }): boolean {
  return Number(rows.get(match.id)?.version ?? -1n) === match.version;
}

async function render(
  engine: string,
  body: QueryBody,
  collection: CollectionRow,
  results: readonly SearchResult[],
  rows: Rows | null,
): Promise<string> {
  const numbers = new NumberWriter();
  const texts: string[] = [];
  for (const result of results) {
    const matches: string[] = [];
    for (const match of result.matches) {
      // Changed again and again while it was searched for: its text and its score would not be of one moment.
      if (rows !== null && !isCurrent(rows, match)) continue;
      matches.push(await matchText(match, collection, body, rows?.get(match.id), numbers));
    }
    texts.push(resultText(engine, result, `[${matches.join(',')}]`));
  }
  const head = `{"collection":"${collection.name}",`;
  return body.several ? `${head}"results":[${texts.map((text) => `{${text}}`).join(',')}]}` : `${head}${texts[0]}}`;
}

async function matchText(
  { id, score }: { readonly id: string; readonly score: number },
  { metric }: CollectionRow,
  { withMetadata, withValues }: QueryBody,
  row: ItemRow | undefined,
  numbers: NumberWriter,
): Promise<string> {
  const distance = metric === 'euclidean' ? `,"distance":${-score || 0}` : '';
  const metadata = withMetadata ? `,"metadata":${row?.metadata ?? 'null'}` : '';
  const values = withValues && row?.embedding != null ? `,"embedding":${await numbers.write(row.embedding)}` : '';
  return `{"id":${JSON.stringify(id)},"score":${score || 0}${distance}${metadata}${values}}`;
}

function resultText(engine: string, result: SearchResult, matches: string): string {
  const payload = {
    engine,
    plan: result.plan,
    rows_matched: result.rowsMatched,
    rows_scanned: result.rowsScanned,
    exact: result.exact,
  };
  return `"matches":${matches},"items":${matches},"next_cursor":null,"raw_vendor_payload":${JSON.stringify(payload)}`;
}
