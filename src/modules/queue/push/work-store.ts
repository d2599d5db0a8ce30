// Fan-out reads of the push dispatcher: all subscriptions, and those with messages to deliver that no process pushes.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

export interface SubscriptionRef {
  readonly account_id: string;
  readonly subscription_id: string;
  /** Name of its queue. */
  readonly queue: string;
  readonly timeout_seconds: number;
}

// One read for all subscriptions, a descent of the index for each: idle ones cost microseconds. Accounts take turns.
const selectDue = statement(
  'push_find_due',
  `/* fan-out: subscriptions with messages to deliver that no process pushes */
   SELECT f.account_id, f.subscription_id, f.queue, f.timeout_seconds
     FROM (SELECT s.account_id, s.subscription_id, s.timeout_seconds, q.name AS queue,
                  row_number() OVER (PARTITION BY s.account_id ORDER BY s.lease_until, s.subscription_id) AS turn
             FROM queue.subscription s
             JOIN queue.queue q ON q.account_id = s.account_id AND q.queue_id = s.queue_id
             JOIN core.wallet w ON w.account_id = s.account_id
            WHERE s.lease_until <= statement_timestamp() AND NOT w.suspended
              AND CASE WHEN q.type = 'fifo'
                       THEN EXISTS (SELECT 1 FROM queue.fifo_group g
                                     WHERE g.account_id = s.account_id AND g.queue_id = s.queue_id AND g.ready_at <= core.clock_now())
                       ELSE EXISTS (SELECT 1 FROM queue.message m
                                     WHERE m.account_id = s.account_id AND m.queue_id = s.queue_id AND m.band = 10
                                       AND m.visible_at <= core.clock_now())
                         OR (q.has_bands
                             AND EXISTS (SELECT 1 FROM queue.message m
                                          WHERE m.account_id = s.account_id AND m.queue_id = s.queue_id
                                            AND m.band = ANY('{0,1,2,3,4,5,6,7,8,9}'::smallint[])
                                            AND m.visible_at <= core.clock_now()))
                  END) f
    ORDER BY f.turn, f.account_id
    LIMIT $1`,
);
const selectAll = statement(
  'push_select_all',
  `/* fan-out: all subscriptions */
   SELECT s.account_id, s.subscription_id, q.name AS queue, s.timeout_seconds
     FROM queue.subscription s
     JOIN queue.queue q ON q.account_id = s.account_id AND q.queue_id = s.queue_id`,
);

/** Up to `limit` subscriptions with something to deliver, fairly across accounts. */
export async function findDueSubscriptions(db: Queryable, limit: number): Promise<SubscriptionRef[]> {
  return (await db.query<SubscriptionRef>(selectDue, [limit])).rows;
}

export async function findSubscriptions(db: Queryable): Promise<SubscriptionRef[]> {
  return (await db.query<SubscriptionRef>(selectAll, [])).rows;
}
