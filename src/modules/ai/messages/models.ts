// Lists of models as Anthropic's wire tells them: pages by the id before or after, of those that chat.
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { invalidField } from '../../../problems/problem.ts';
import type { listModels } from '../models/list.ts';

type Listed = ReturnType<typeof listModels>[number];

const PAGE = 20;
const PAGE_MAX = 1_000;
/** Vendors do not say when. */
const CREATED = '1970-01-01T00:00:00Z';

/** Whether who asks speaks that wire. */
export function speaksMessages({ headers }: Pick<RawHead, 'headers'>): boolean {
  return headers['anthropic-version'] !== undefined;
}

export function modelInfo({ id, context_length, max_output_tokens }: Listed): object {
  const limits = { max_input_tokens: context_length, max_tokens: max_output_tokens };
  return { type: 'model', id, display_name: id, created_at: CREATED, ...limits };
}

/** Throws VALIDATION_FAILED. */
export function modelPage(all: readonly Listed[], query: URLSearchParams): RawAnswer {
  const limit = Number(query.get('limit') ?? PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
    throw invalidField('limit', 'range', `limit is a whole number, 1 to ${PAGE_MAX}.`);
  const [after, before] = [positionOf(all, query, 'after_id'), positionOf(all, query, 'before_id')];
  const from = after !== null ? after + 1 : before !== null ? Math.max(0, before - limit) : 0;
  const page = all.slice(from, after === null && before !== null ? before : from + limit);
  return json({
    data: page.map(modelInfo),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: after === null && before !== null ? from > 0 : from + page.length < all.length,
  });
}

function positionOf(all: readonly Listed[], query: URLSearchParams, name: string): number | null {
  const id = query.get(name);
  if (id === null) return null;
  const position = all.findIndex((listed) => listed.id === id);
  if (position >= 0) return position;
  throw invalidField(name, 'not_found', `${name} is the id of no model; take it from this list.`);
}
