// Renders the answer of a query as JSON text; its size is measured before the pieces are joined.
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import type { CollectionRow } from '../collections/store.ts';
import type { SearchResult } from '../engine/port.ts';
import type { ItemRow } from '../items/store.ts';
import { AnswerBytes, NumberWriter } from '../items/stored.ts';
import { ANSWER_BYTES_MAX } from '../limits.ts';
import type { QueryBody } from './body.ts';

/** What is answered, and the rows that belong to it; null when nothing of them is asked for. */
export interface Found {
  readonly results: readonly SearchResult[];
  readonly rows: ReadonlyMap<string, ItemRow> | null;
}

/** A measure of what is in the answer twice, in matches and in items. */
export const bytesOfMatches = (ctx: CallContext, body: QueryBody) =>
  new AnswerBytes(ctx, () => tooLarge(body), ANSWER_BYTES_MAX / 2);

/** Throws the refusal of an answer that is too large. */
export async function renderAnswer(
  ctx: CallContext,
  engine: string,
  body: QueryBody,
  collection: CollectionRow,
  { results, rows }: Found,
): Promise<string> {
  const bytes = bytesOfMatches(ctx, body);
  const numbers = new NumberWriter();
  const texts: string[] = [];
  for (const result of results) {
    const matches: string[] = [];
    for (const match of result.matches) {
      const text = await matchText(match, collection, body, rows?.get(match.id), numbers);
      bytes.add(text);
      matches.push(text);
    }
    texts.push(resultText(engine, result, `[${matches.join(',')}]`));
  }
  const head = `{"collection":"${collection.name}",`;
  return body.several ? `${head}"results":[${texts.map((text) => `{${text}}`).join(',')}]}` : `${head}${texts[0]}}`;
}

function tooLarge({ several }: QueryBody) {
  return invalidField(
    several ? 'queries' : 'top_k',
    'answer_too_large',
    `The answer would have more than ${ANSWER_BYTES_MAX} bytes: lower top_k, send fewer queries a call, or set include_metadata to false and fetch the metadata by id.`,
  );
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
  return `"matches":${matches},"items":${matches},"next_cursor":null,"has_more":false,"raw_vendor_payload":${JSON.stringify(payload)}`;
}
