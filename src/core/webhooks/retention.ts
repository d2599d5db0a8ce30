// What the webhooks leave behind: deliveries older than 30 days, and lanes of deleted webhooks.
import { statement } from '../../db/statement.ts';

export const findOldDeliveries = statement(
  'delivery_find_old',
  `/* fan-out: accounts with deliveries older than 30 days */
   SELECT account_id FROM core.delivery WHERE created_at <= core.clock_now() - interval '30 days' GROUP BY account_id LIMIT $1`,
);
export const deleteOldDeliveries = statement(
  'delivery_delete_old',
  `WITH c AS MATERIALIZED (
     SELECT delivery_id FROM core.delivery
      WHERE account_id = $1 AND created_at <= core.clock_now() - interval '30 days'
      LIMIT $2 FOR UPDATE SKIP LOCKED
   )
   DELETE FROM core.delivery AS d USING c WHERE d.account_id = $1 AND d.delivery_id = c.delivery_id`,
);
export const findStrayLanes = statement(
  'lane_find_strays',
  `/* fan-out: accounts with lanes of webhooks that are deleted */
   SELECT l.account_id
     FROM core.delivery_lane l
    WHERE NOT EXISTS (SELECT 1 FROM core.webhook w WHERE w.account_id = l.account_id AND w.webhook_id = l.webhook_id)
    GROUP BY l.account_id LIMIT $1`,
);
/** No lane of a deleted webhook is made again: the dispatcher makes lanes of locked, enabled webhooks only. */
export const deleteStrayLanes = statement(
  'lane_delete_strays',
  `WITH c AS MATERIALIZED (
     SELECT l.webhook_id FROM core.delivery_lane l
      WHERE l.account_id = $1
        AND NOT EXISTS (SELECT 1 FROM core.webhook w WHERE w.account_id = $1 AND w.webhook_id = l.webhook_id)
      LIMIT $2 FOR UPDATE OF l SKIP LOCKED
   )
   DELETE FROM core.delivery_lane AS t USING c WHERE t.account_id = $1 AND t.webhook_id = c.webhook_id`,
);
