// SQL of the blocks that details of events are stored in.
import { byteaArray, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { DetailBlock } from './detail-blocks.ts';

const insertBlocks = statement(
  'errors_capture_insert_details',
  `INSERT INTO errors.event_detail AS d (account_id, seq, lines)
   SELECT w.account_id, u.seq, u.lines
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::bytea[]) u(account_id, seq, lines)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertBlock = statement(
  'errors_capture_insert_detail',
  'INSERT INTO errors.event_detail (account_id, seq, lines) VALUES ($1, $2, $3)',
);

/** As elements of an array longer blocks would be copied once more. */
const SHARED_BYTES_MAX = 16 * 1024;

export function sendDetails(tx: Queryable, accounts: Buffer, blocks: readonly DetailBlock[]): void {
  const isLong = ({ packed }: DetailBlock) => packed.length > SHARED_BYTES_MAX;
  const short = blocks.filter((block) => !isLong(block));
  if (short.length > 0) {
    void tx.query(insertBlocks, [
      accounts,
      textArray(short.map(({ accountId }) => accountId)),
      int8Array(short.map(({ seq }) => seq)),
      byteaArray(short.map(({ packed }) => packed)),
    ]);
  }
  for (const { accountId, seq, packed } of blocks.filter(isLong)) void tx.query(insertBlock, [accountId, seq, packed]);
}
