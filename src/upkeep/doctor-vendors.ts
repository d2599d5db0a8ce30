// Doctor check for processes with different vendors files: the price, or the refusal, of the same call would depend on the process.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';

const readFiles = statement(
  'doctor_read_vendors_files',
  `SELECT vendors_digest, string_agg(process_id, ', ' ORDER BY process_id) AS processes
     FROM core.process
    WHERE role <> 'cli' AND seen_at > clock_timestamp() - interval '1 minute'
    GROUP BY vendors_digest
    ORDER BY vendors_digest`,
);

/** Names the processes by their files; null when all have the same. */
export async function differingVendors(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ vendors_digest: string; processes: string }>(readFiles, []);
  if (rows.length < 2) return null;
  const groups = rows.map(({ vendors_digest: digest, processes }) => `${processes} with ${digest || 'none'}`);
  return `processes work with different VENDORS_FILEs: ${groups.join('; ')}`;
}
