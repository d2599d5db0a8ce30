// What deleted webhooks leave behind: their lines.
import { statement } from '../../../db/statement.ts';

export const findStrayLines = statement(
  'line_find_strays',
  `/* fan-out: accounts with lines of webhooks that are deleted */
   SELECT l.account_id
     FROM core.delivery_line l
    WHERE NOT EXISTS (SELECT 1 FROM core.webhook w WHERE w.account_id = l.account_id AND w.webhook_id = l.webhook_id)
    GROUP BY l.account_id LIMIT $1`,
);
/** No line of a deleted webhook is made again: the dispatcher makes lines of locked, enabled webhooks only. */
export const deleteStrayLines = statement(
  'line_delete_strays',
  `WITH c AS MATERIALIZED (
     SELECT l.webhook_id FROM core.delivery_line l
      WHERE l.account_id = $1
        AND NOT EXISTS (SELECT 1 FROM core.webhook w WHERE w.account_id = $1 AND w.webhook_id = l.webhook_id)
      LIMIT $2 FOR UPDATE OF l SKIP LOCKED
   )
   DELETE FROM core.delivery_line AS t USING c WHERE t.account_id = $1 AND t.webhook_id = c.webhook_id`,
);
