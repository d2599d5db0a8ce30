// Claims due deliveries. A line is locked while its deliveries are claimed, and then records when the earliest of the rest is due. A line
// with more due deliveries than were claimed stays with this process until the lease ends. So it is not found again and again, and hides
// no line that can be served. Everything that makes a delivery due also locks its line, so none is missed.
// The statements take a list of accounts: many on plain PostgreSQL, one on a distributed engine.

import type { Tier } from '../../core/callers/tiers.ts';
import type { EventRow } from '../../core/events/wire.ts';
import { LEASE_MARGIN_SECONDS, SHORT_SECONDS } from '../../core/outbound/long-calls.ts';
import { int4Array, textArray } from '../../db/arrays.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { TargetRow } from '../registrations/store.ts';
import type { Health } from '../turns/places.ts';

/** An attempt must be over by then; the outbound client ends it after 15 s. One that may take longer has its lease extended first. */
export const LEASE_SECONDS = SHORT_SECONDS + LEASE_MARGIN_SECONDS;

export interface LineId {
  readonly accountId: string;
  readonly webhookId: string;
}

export interface LineClaim extends LineId {
  /** Deliveries to claim at most. */
  readonly room: number;
}

export interface ServedLine extends LineId {
  readonly health: Health;
  /** Whether more deliveries are due than were claimed. */
  readonly more: boolean;
}

export interface ClaimedDelivery extends LineId {
  readonly deliveryId: string;
  readonly eventId: string;
  /** Number of the attempt to be made: the fence of its outcome. */
  readonly attempt: number;
  /** JSON list of the attempts before. */
  readonly attempts: string | null;
  /** Null when the event is not kept any more. */
  readonly event: EventRow | null;
  /** Null when the webhook is deleted. */
  readonly webhook: WebhookRow | null;
}

export interface WebhookRow extends TargetRow {
  readonly account_id: string;
  readonly failed_attempts: number;
  readonly tier: Tier;
}

export interface Claim {
  /** Lines that another transaction holds are missing, and those of accounts that failed. */
  readonly lines: readonly ServedLine[];
  readonly deliveries: readonly ClaimedDelivery[];
  /** Why accounts failed whose claims were transactions of their own, while others were served. */
  readonly failures: readonly unknown[];
}

const findLines = statement(
  'delivery_find_lines',
  `/* fan-out: webhooks with deliveries due, longest first */
   SELECT l.account_id, l.webhook_id
     FROM core.delivery_line l
    WHERE l.health = $1 AND l.due_at IS NOT NULL AND l.due_at <= core.clock_now()
    ORDER BY l.due_at
    LIMIT $2`,
);
const lockLines = statement(
  'delivery_lock_lines',
  `WITH c AS MATERIALIZED (
     SELECT l.account_id, l.webhook_id
       FROM unnest($2::text[], $3::text[]) u(account_id, webhook_id), core.delivery_line l
      WHERE l.account_id = ANY($1::text[]) AND l.account_id = u.account_id AND l.webhook_id = u.webhook_id
      ORDER BY l.account_id, l.webhook_id
      LIMIT 10000
        FOR UPDATE OF l SKIP LOCKED)
   SELECT c.account_id, c.webhook_id FROM c`,
);
// The claimed ids pass through arrays, which the planner takes for ten rows: so it looks each up by index. Joined as a table of
// unknown size, they made it read every delivery of the account instead (0.4 s at a backlog of 100,000).
const claimDue = statement(
  'delivery_claim',
  `WITH c AS MATERIALIZED (
     SELECT due.account_id, due.delivery_id
       FROM unnest($2::text[], $3::text[], $4::int[]) u(account_id, webhook_id, room)
      CROSS JOIN LATERAL (
            SELECT d.account_id, d.delivery_id
              FROM core.delivery d
             WHERE d.account_id = ANY($1::text[]) AND d.account_id = u.account_id AND d.webhook_id = u.webhook_id
               AND d.due_at IS NOT NULL AND d.due_at <= core.clock_now()
             ORDER BY d.due_at, d.delivery_id
             LIMIT u.room
               FOR UPDATE SKIP LOCKED) due
      LIMIT 10000),
   ids AS MATERIALIZED (
     SELECT i.account_id, i.delivery_id, core.clock_now() + ${LEASE_SECONDS} * interval '1 second' AS lease_end
       FROM unnest(ARRAY(SELECT c.account_id FROM c), ARRAY(SELECT c.delivery_id FROM c)) i(account_id, delivery_id)),
   t AS (
     UPDATE core.delivery AS t
        SET due_at = ids.lease_end, attempt = t.attempt + 1
       FROM ids
      WHERE t.account_id = ANY($1::text[]) AND t.account_id = ids.account_id AND t.delivery_id = ids.delivery_id
  RETURNING t.account_id, t.delivery_id, t.webhook_id, t.event_sequence, t.event_id AS delivered_id, t.attempt, t.attempts)
   SELECT t.account_id, t.delivery_id, t.webhook_id, t.delivered_id, t.attempt, t.attempts,
          e.sequence, e.event_id, e.type, e.data, e.request_id, e.test, e.created_at
     FROM t LEFT JOIN core.event e ON e.account_id = ANY($1::text[]) AND e.account_id = t.account_id
                                  AND e.sequence = t.event_sequence AND e.event_id = t.delivered_id`,
);
const leaveLines = statement(
  'delivery_leave_lines',
  `WITH n AS MATERIALIZED (
     SELECT u.account_id, u.webhook_id, coalesce(next.due_at <= core.clock_now(), false) AS more,
            CASE WHEN next.due_at <= core.clock_now() THEN core.clock_now() + ${LEASE_SECONDS} * interval '1 second'
                 ELSE next.due_at END AS due_at
       FROM unnest($2::text[], $3::text[]) u(account_id, webhook_id)
       LEFT JOIN LATERAL (
            SELECT d.due_at
              FROM core.delivery d
             WHERE d.account_id = ANY($1::text[]) AND d.account_id = u.account_id AND d.webhook_id = u.webhook_id
               AND d.due_at IS NOT NULL
             ORDER BY d.due_at, d.delivery_id
             LIMIT 1) next ON true)
   UPDATE core.delivery_line AS l
      SET due_at = n.due_at
     FROM n
    WHERE l.account_id = ANY($1::text[]) AND l.account_id = n.account_id AND l.webhook_id = n.webhook_id
RETURNING l.account_id, l.webhook_id, l.health, n.more`,
);
const readWebhooks = statement(
  'delivery_read_webhooks',
  `SELECT x.account_id, x.webhook_id, x.url, x.retry_policy, x.timeout_seconds, x.headers, x.secret, x.status, x.failed_attempts, x.previous_secret, a.tier
     FROM unnest($2::text[], $3::text[]) u(account_id, webhook_id),
          LATERAL (SELECT w.account_id, w.webhook_id, w.url, w.retry_policy, w.timeout_seconds, w.headers, w.secret, w.status, w.failed_attempts,
                          CASE WHEN w.previous_secret_until > core.clock_now() THEN w.previous_secret END AS previous_secret
                     FROM core.webhook w
                    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id AND w.webhook_id = u.webhook_id OFFSET 0) x
     JOIN core.account a ON a.account_id = ANY($1::text[]) AND a.account_id = x.account_id`,
);
const extendLease = statement(
  'delivery_extend_lease',
  `UPDATE core.delivery SET due_at = core.clock_now() + $4 * interval '1 second'
    WHERE account_id = $1 AND delivery_id = $2 AND attempt = $3 AND status = 'pending'`,
);
const freeLines = statement(
  'delivery_free_lines',
  `WITH now AS MATERIALIZED (SELECT core.clock_now() AS at)
   UPDATE core.delivery_line AS l
      SET due_at = now.at
     FROM now, unnest($2::text[], $3::text[]) u(account_id, webhook_id)
    WHERE l.account_id = ANY($1::text[]) AND l.account_id = u.account_id AND l.webhook_id = u.webhook_id AND l.due_at > now.at`,
);

interface LineRow {
  readonly account_id: string;
  readonly webhook_id: string;
}

interface ClaimedRow extends LineRow, Omit<EventRow, 'sequence'> {
  readonly delivery_id: string;
  readonly delivered_id: string;
  readonly attempt: number;
  readonly attempts: string | null;
  readonly sequence: bigint | null;
}

/** Up to `limit` lines of this health with something due, longest due first. */
export async function findDueLines(db: Queryable, health: Health, limit: number): Promise<LineId[]> {
  const { rows } = await db.query<LineRow>(findLines, [health, limit]);
  return rows.map((row) => ({ accountId: row.account_id, webhookId: row.webhook_id }));
}

/** Leases up to `room` due deliveries of each line, the longest due first, and reads what their attempts need. Throws when all fails. */
export async function claimDeliveries(db: Database, wanted: readonly LineClaim[]): Promise<Claim> {
  const tried = await Promise.allSettled(db.byTransaction(wanted).map((lines) => claimTogether(db, lines)));
  const failures = tried.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
  if (failures.length > 0 && failures.length === tried.length) throw failures[0];
  // What is leased must be sent now: nobody else may before the leases end.
  const claims = tried.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value);
  return {
    lines: claims.flatMap(({ lines }) => lines),
    deliveries: claims.flatMap(({ deliveries }) => deliveries),
    failures,
  };
}

async function claimTogether(db: Database, wanted: readonly LineClaim[]): Promise<Omit<Claim, 'failures'>> {
  const { answers } = await db.hot.pipelinedTransaction(async (tx) => {
    const { rows } = await tx.query<LineRow>(lockLines, idsOf(wanted));
    if (rows.length === 0) return { answers: null };
    const locked = new Set(rows.map((row) => `${row.account_id} ${row.webhook_id}`));
    const lines = wanted.filter((line) => locked.has(`${line.accountId} ${line.webhookId}`));
    // Lines without room are only taken over.
    const served = lines.filter((line) => line.room > 0);
    const ids = served.length === 0 ? null : idsOf(served);
    tx.cork();
    const sent = Promise.all([
      ids && tx.query<ClaimedRow>(claimDue, [...ids, int4Array(served.map((line) => line.room))]),
      tx.query<LineRow & { health: Health; more: boolean }>(leaveLines, idsOf(lines)),
      ids && tx.query<WebhookRow>(readWebhooks, ids),
    ]);
    sent.catch(() => undefined); // the COMMIT behind it fails with the same reason
    return { answers: sent };
  }, wanted[0]?.accountId);
  if (answers === null) return { lines: [], deliveries: [] };
  const [claimed, left, webhooks] = await answers;
  const byId = new Map((webhooks?.rows ?? []).map((row) => [row.webhook_id, row]));
  return {
    lines: left.rows.map((row) => ({
      accountId: row.account_id,
      webhookId: row.webhook_id,
      health: row.health,
      more: row.more,
    })),
    deliveries: (claimed?.rows ?? [])
      .map((row) => deliveryOf(row, byId.get(row.webhook_id) ?? null))
      .sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1)),
  };
}

/** Before an attempt that may take so long. False: the delivery is over, or another attempt has it. */
export async function extendDelivery(
  db: Database,
  delivery: ClaimedDelivery,
  timeoutSeconds: number,
): Promise<boolean> {
  const { accountId, deliveryId, attempt } = delivery;
  const lease = timeoutSeconds + LEASE_MARGIN_SECONDS;
  return (await db.query(extendLease, [accountId, deliveryId, attempt, lease])).count === 1;
}

/** Gives lines that were left to this process back to all. */
export async function freeLinesOf(db: Database, lines: readonly LineId[]): Promise<void> {
  for (const part of db.byTransaction(lines)) await db.query(freeLines, idsOf(part));
}

/** Accounts, then lines as two arrays of one length. */
function idsOf(lines: readonly LineId[]): [Buffer, Buffer, Buffer] {
  return [
    textArray([...new Set(lines.map((line) => line.accountId))].sort()),
    textArray(lines.map((line) => line.accountId)),
    textArray(lines.map((line) => line.webhookId)),
  ];
}

function deliveryOf(row: ClaimedRow, webhook: WebhookRow | null): ClaimedDelivery {
  return {
    accountId: row.account_id,
    webhookId: row.webhook_id,
    deliveryId: row.delivery_id,
    eventId: row.delivered_id,
    attempt: row.attempt,
    attempts: row.attempts,
    event: row.sequence === null ? null : { ...row, sequence: row.sequence },
    webhook,
  };
}
