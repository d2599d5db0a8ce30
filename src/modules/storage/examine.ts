// Consistency checks of storage for `qm doctor`: objects against their blobs, the counters of buckets, and the bytes the account is charged for.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const compare = statement(
  'storage_examine',
  `SELECT (SELECT count(*) FROM storage.object o
             LEFT JOIN storage.blob b ON b.account_id = $1 AND b.blob_id = o.blob_id AND b.state = 'live'
            WHERE o.account_id = $1 AND (b.blob_id IS NULL OR b.bytes <> o.bytes)) AS without_bytes,
          (SELECT count(*) FROM storage.part t
             JOIN storage.upload p ON p.account_id = $1 AND p.upload_id = t.upload_id AND p.state = 'open'
             LEFT JOIN storage.blob b ON b.account_id = $1 AND b.blob_id = t.blob_id AND b.state = 'live'
            WHERE t.account_id = $1 AND b.blob_id IS NULL) AS parts_without_bytes,
          (SELECT count(*) FROM storage.blob b
             LEFT JOIN (SELECT n.blob_id, count(*) AS named
                          FROM (SELECT o.blob_id FROM storage.object o WHERE o.account_id = $1
                                UNION ALL
                                SELECT t.blob_id FROM storage.part t WHERE t.account_id = $1) n
                         GROUP BY n.blob_id) s ON s.blob_id = b.blob_id
            WHERE b.account_id = $1 AND b.state = 'live' AND b.refs <> coalesce(s.named, 0)) AS miscounted,
          (SELECT count(*) FROM storage.bucket k
             LEFT JOIN (SELECT o.bucket, count(*) AS objects, sum(o.bytes) AS bytes FROM storage.object o WHERE o.account_id = $1 GROUP BY 1) s
                    ON s.bucket = k.bucket
            WHERE k.account_id = $1 AND (k.object_count <> coalesce(s.objects, 0) OR k.bytes <> coalesce(s.bytes, 0))) AS buckets,
          (SELECT coalesce(sum(h.bytes), 0) FROM storage.held h WHERE h.account_id = $1) AS held,
          (SELECT coalesce(sum(o.bytes), 0) FROM storage.object o WHERE o.account_id = $1)
            + (SELECT coalesce(sum(p.bytes), 0) FROM storage.upload p WHERE p.account_id = $1 AND p.state = 'open') AS stored`,
);

interface Compared {
  readonly without_bytes: bigint;
  readonly parts_without_bytes: bigint;
  readonly miscounted: bigint;
  readonly buckets: bigint;
  readonly held: bigint;
  readonly stored: bigint;
}

/** A sentence for each thing that does not agree. */
export async function examineStorage(db: Queryable, accountId: string): Promise<string[]> {
  const { rows } = await db.query<Compared>(compare, [accountId]);
  const [found] = rows;
  if (found === undefined) throw new Error('the comparison of what is stored answers one row');
  return [
    ...(found.without_bytes > 0n ? [`${found.without_bytes} objects have no bytes, or others than they say`] : []),
    ...(found.parts_without_bytes > 0n ? [`${found.parts_without_bytes} parts of uploads have no bytes`] : []),
    ...(found.miscounted > 0n ? [`${found.miscounted} blobs count other objects than those that name them`] : []),
    ...(found.buckets > 0n ? [`${found.buckets} buckets count other objects or bytes than they have`] : []),
    ...(found.held !== found.stored ? [`${found.held} bytes are charged for, ${found.stored} are stored`] : []),
  ];
}
