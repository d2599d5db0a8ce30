// Stored renderings of image links. The bytes stay in the asset store for 30 days, described by a row; a file without a row is removed by its
// age.
import { hash } from 'node:crypto';
import { available } from '../../../assets/assets.ts';
import { removeOldRows, type Sweep } from '../../../core/background/sweeper/sweep.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { DAY_MS } from '../../../lib/time.ts';

const KEPT_DAYS = 30;
const PREFIX = 'rendered/';
const SWEEP_MS = 600_000;

export interface Rendered {
  readonly rendered_id: string;
  readonly content_type: string;
  readonly bytes: bigint;
}

const select = statement(
  'image_select_rendered',
  `SELECT r.rendered_id, r.content_type, r.bytes FROM image.rendered r
    WHERE r.account_id = $1 AND r.rendered_id = $2 AND r.expires_at > core.clock_now()`,
);
const insert = statement(
  'image_insert_rendered',
  `INSERT INTO image.rendered (account_id, rendered_id, content_type, bytes, expires_at)
   VALUES ($1, $2, $3, $4, core.clock_now() + interval '${KEPT_DAYS} days')
       ON CONFLICT (account_id, rendered_id) DO NOTHING`,
);
const findOld = statement(
  'image_find_old_rendered',
  `/* fan-out: renderings whose time is over */
   SELECT r.account_id, r.rendered_id AS id FROM image.rendered r WHERE r.expires_at <= core.clock_now() ORDER BY r.expires_at LIMIT $1`,
);
const removeOld = statement(
  'image_remove_old_rendered',
  'DELETE FROM image.rendered WHERE account_id = $1 AND rendered_id = ANY($2::text[]) AND expires_at <= core.clock_now()',
);

/** Names the same bytes whatever link asks for them. `etag`: of the source; `transform`: as JSON. */
export const renderedId = (bucket: string, key: string, etag: string, transform: string): string =>
  hash('sha256', JSON.stringify([bucket, key, etag, transform]));

export const renderedKey = (accountId: string, id: string): string => `${PREFIX}${accountId}/${id}`;

export async function findRendered(db: Queryable, accountId: string, id: string): Promise<Rendered | null> {
  return (await db.query<Rendered>(select, [accountId, id])).rows[0] ?? null;
}

/** Keeps the bytes. False: another process was faster, and its bytes are the same. Throws SERVICE_UNAVAILABLE. */
export async function keepRendered(
  { assets, db, log }: Pick<Services, 'assets' | 'db' | 'log'>,
  accountId: string,
  { rendered_id: id, content_type: contentType }: Omit<Rendered, 'bytes'>,
  bytes: Uint8Array,
): Promise<boolean> {
  await available(log, () => assets.put(renderedKey(accountId, id), bytes));
  return db.transaction(async (tx) => {
    await tx.query(removeOld, [accountId, textArray([id])]);
    return (await tx.query(insert, [accountId, id, contentType, bytes.length])).count === 1;
  });
}

export function renderedSweeps({ assets, db }: Pick<Services, 'assets' | 'db'>): Sweep[] {
  return [
    {
      name: 'image.rendered',
      intervalMs: SWEEP_MS,
      run: removeOldRows<{ account_id: string; id: string }>(db, {
        find: findOld,
        remove: removeOld,
        keys: (rows) => [textArray(rows.map(({ id }) => id))],
      }),
    },
    {
      name: 'image.rendered_files',
      intervalMs: 6 * SWEEP_MS,
      run: (signal) => assets.removeOld({ prefix: PREFIX, beforeMs: Date.now() - (KEPT_DAYS + 1) * DAY_MS }, signal),
    },
  ];
}
