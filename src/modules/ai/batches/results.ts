// Results of a batch in the order in which its requests ended, so that a page never changes, even while other requests are under way.

import { decodeCursor, encodeCursor, LIMIT_DEFAULT } from '../../../core/secrets/cursors.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { usd } from '../../../lib/money.ts';
import { again, type KeptVectors, listText } from '../calls/embed.ts';
import type { Kept } from '../calls/kept.ts';
import { RESULT_PAGE_BYTES_MAX } from '../limits.ts';
import { CHAT } from '../models/family.ts';
import type { ItemError, SealedError } from './items.ts';
import { unseal } from './seal.ts';

interface SizeRow {
  readonly result_no: number;
  readonly bytes: number;
}
interface ResultRow {
  readonly item_no: number;
  readonly custom_id: string;
  readonly capability: string;
  readonly response: Buffer | null;
  readonly error: string | null;
  readonly cost_nanos: bigint;
}

const selectSizes = statement(
  'ai_result_sizes',
  `SELECT i.result_no, coalesce(length(i.response), 0) AS bytes FROM ai.batch_item i
    WHERE i.account_id = $1 AND i.batch_id = $2 AND i.result_no > $3 ORDER BY i.result_no LIMIT $4`,
);
const selectResults = statement(
  'ai_result_read',
  `SELECT i.item_no, i.custom_id, i.capability, i.response, i.error, i.cost_nanos FROM ai.batch_item i
    WHERE i.account_id = $1 AND i.batch_id = $2 AND i.result_no > $3 AND i.result_no <= $4 ORDER BY i.result_no`,
);

/** One page, as many as have room in it but at least one. Throws INVALID_CURSOR. */
export async function resultPage(
  ctx: CallContext,
  batchId: string,
  { cursor, limit = LIMIT_DEFAULT }: { readonly cursor?: string; readonly limit?: number },
): Promise<JsonText> {
  const { core, accountId, capability } = ctx;
  const binding = [accountId, capability, batchId];
  const after = cursor === undefined ? 0 : Number(decodeCursor(core.secrets, binding, cursor)[0]);
  const { shown, hasMore } = await fitting(core.db, [accountId, batchId, after, limit + 1], limit);
  const last = shown.at(-1)?.result_no ?? after;
  ctx.holdAnswer(shown.reduce((sum, { bytes }) => sum + 2 * bytes, 0));
  const { rows } = await core.db.query<ResultRow>(selectResults, [accountId, batchId, after, last]);
  const items: string[] = [];
  for (const row of rows) items.push(await resultText(ctx, batchId, row));
  const next = hasMore ? encodeCursor(core.secrets, binding, [last]) : null;
  return new JsonText(`{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(next)},"has_more":${hasMore}}`);
}

async function fitting(db: Queryable, values: readonly (string | number)[], limit: number) {
  const { rows } = await db.query<SizeRow>(selectSizes, values);
  let bytes = 0;
  const full = rows.findIndex((row, i) => {
    bytes += row.bytes;
    return i === limit || (i > 0 && bytes > RESULT_PAGE_BYTES_MAX);
  });
  return { shown: full === -1 ? rows : rows.slice(0, full), hasMore: full !== -1 };
}

async function resultText({ core }: CallContext, batchId: string, row: ResultRow): Promise<string> {
  const { response, item_no: itemNo } = row;
  const status = response === null ? 'failed' : 'succeeded';
  const kept = response === null ? 'null' : unseal(core, batchId, itemNo, 'response', response);
  const shown = response === null || row.capability === CHAT ? kept : await vectorsText(kept);
  const head = JSON.stringify({ custom_id: row.custom_id, status }).slice(0, -1);
  return `${head},"response":${shown},"error":${errorText(core, batchId, row)},"cost_usd":${JSON.stringify(usd(row.cost_nanos))}}`;
}

/** Of those that ended with their batch the message is ours, and kept as it is. */
function errorText(core: CallContext['core'], batchId: string, { error, item_no: itemNo }: ResultRow): string {
  if (error === null) return 'null';
  const { code, message, sealed, ...wait } = JSON.parse(error) as ItemError & Partial<SealedError>;
  if (sealed === undefined) return JSON.stringify({ code, message });
  const opened = unseal(core, batchId, itemNo, 'error', Buffer.from(sealed, 'base64'));
  return JSON.stringify({ code, message: opened, ...wait });
}

async function vectorsText(kept: string): Promise<string> {
  const pieces = await Array.fromAsync(listText(again(JSON.parse(kept) as Kept<KeptVectors>), 'float'));
  return `${pieces.join('')}}`;
}
