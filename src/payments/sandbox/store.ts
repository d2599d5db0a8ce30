// SQL of the sandbox: rows that a payment provider would keep. They are found by refs and tokens, without an account.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

export interface PaymentRow {
  readonly ref: string;
  readonly id: string;
  readonly account_id: string;
  readonly token: string | null;
  readonly purpose: 'topup' | 'setup' | 'subscription' | 'invoice' | 'charge';
  readonly amount_minor: bigint;
  readonly currency: string;
  readonly description: string;
  readonly save_method: boolean;
  readonly return_url: string | null;
  readonly status: 'open' | 'authenticating' | 'processing' | 'review' | 'paid' | 'failed';
  readonly card: string | null;
  readonly failure_code: string | null;
  readonly pays_at: number | null;
  readonly method_ref: string | null;
  readonly subscription_ref: string | null;
  readonly expires_at: number;
}

export interface ReturnRow {
  readonly ref: string;
  readonly kind: 'refund' | 'dispute';
  readonly id: string | null;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'open' | 'won' | 'lost';
  readonly amount_minor: bigint;
}

export interface MethodRow {
  readonly ref: string;
  readonly account_id: string;
  readonly card: string;
  readonly detached: boolean;
}

export interface SubscriptionRow {
  readonly ref: string;
  readonly method_ref: string;
  readonly amount_minor: bigint;
  readonly currency: string;
  readonly started_at: number;
  readonly payment_ref: string;
  readonly paid_renewals: number;
  readonly cancel_at: number | null;
}

const PAYMENT = `ref, id, account_id, token, purpose, amount_minor, currency, description, save_method, return_url, status, card,
          failure_code, pays_at, method_ref, subscription_ref, expires_at`;

const insert = statement(
  'sandbox_payment_insert',
  `INSERT INTO core.sandbox_payment (${PAYMENT}, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
       ON CONFLICT (id) DO NOTHING`,
);
const byId = statement('sandbox_payment_by_id', `SELECT ${PAYMENT} FROM core.sandbox_payment WHERE id = $1`);
const byRef = statement('sandbox_payment_by_ref', `SELECT ${PAYMENT} FROM core.sandbox_payment WHERE ref = $1`);
const byToken = statement('sandbox_payment_by_token', `SELECT ${PAYMENT} FROM core.sandbox_payment WHERE token = $1`);
const lock = statement('sandbox_payment_lock', `SELECT ${PAYMENT} FROM core.sandbox_payment WHERE ref = $1 FOR UPDATE`);
const update = statement(
  'sandbox_payment_update',
  `UPDATE core.sandbox_payment
      SET status = $2, card = $3, failure_code = $4, pays_at = $5, method_ref = $6, subscription_ref = $7
    WHERE ref = $1`,
);
const returnsOf = statement(
  'sandbox_returns',
  `SELECT ref, kind, id, status, amount_minor FROM core.sandbox_return WHERE payment_ref = $1 ORDER BY created_at, ref`,
);
const insertReturnRow = statement(
  'sandbox_return_insert',
  `INSERT INTO core.sandbox_return (ref, payment_ref, account_id, kind, id, status, amount_minor, created_at)
   VALUES ($1, $2, $3, 'refund', $4, $5, $6, $7)`,
);
const insertMethodRow = statement(
  'sandbox_method_insert',
  `INSERT INTO core.sandbox_method (ref, account_id, card, created_at) VALUES ($1, $2, $3, $4)`,
);
const methodByRef = statement(
  'sandbox_method_by_ref',
  'SELECT ref, account_id, card, detached FROM core.sandbox_method WHERE ref = $1',
);
const detachRow = statement('sandbox_method_detach', 'UPDATE core.sandbox_method SET detached = true WHERE ref = $1');
const insertSubscriptionRow = statement(
  'sandbox_subscription_insert',
  `INSERT INTO core.sandbox_subscription (ref, account_id, method_ref, amount_minor, currency, started_at, payment_ref, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);
const subscriptionByRef = statement(
  'sandbox_subscription_by_ref',
  `SELECT ref, method_ref, amount_minor, currency, started_at, payment_ref, paid_renewals, cancel_at
     FROM core.sandbox_subscription WHERE ref = $1`,
);
const payRenewalRow = statement(
  'sandbox_subscription_pay_renewal',
  `UPDATE core.sandbox_subscription SET paid_renewals = paid_renewals + 1
    WHERE ref = $1 AND (cancel_at IS NULL OR cancel_at > core.clock_now())`,
);
const cancelRow = statement(
  'sandbox_subscription_cancel',
  'UPDATE core.sandbox_subscription SET cancel_at = $2 WHERE ref = $1',
);

/** Keeps it, unless one is kept under the same id of ours. Answers the one that is kept. */
export async function keepPayment(db: Queryable, row: PaymentRow, nowMs: number): Promise<PaymentRow> {
  const state = [row.status, row.card, row.failure_code, timestamp(row.pays_at), row.method_ref, row.subscription_ref];
  const what = [row.amount_minor, row.currency, row.description, row.save_method, row.return_url];
  const ids = [row.ref, row.id, row.account_id, row.token, row.purpose];
  await db.query(insert, [...ids, ...what, ...state, timestamp(row.expires_at), timestamp(nowMs)]);
  return (await db.query<PaymentRow>(byId, [row.id])).rows[0] as PaymentRow;
}

export async function findPayment(
  db: Queryable,
  by: { ref: string } | { token: string } | { id: string },
): Promise<PaymentRow | null> {
  const [statement, value] = 'ref' in by ? [byRef, by.ref] : 'token' in by ? [byToken, by.token] : [byId, by.id];
  return (await db.query<PaymentRow>(statement, [value])).rows[0] ?? null;
}

export async function lockPayment(tx: Queryable, ref: string): Promise<PaymentRow | null> {
  return (await tx.query<PaymentRow>(lock, [ref])).rows[0] ?? null;
}

export async function savePayment(tx: Queryable, row: PaymentRow): Promise<void> {
  const { ref, status, card, failure_code, pays_at, method_ref, subscription_ref } = row;
  await tx.query(update, [ref, status, card, failure_code, timestamp(pays_at), method_ref, subscription_ref]);
}

/** Refunds and disputes, the oldest first. */
export async function returnsOfPayment(db: Queryable, ref: string): Promise<readonly ReturnRow[]> {
  return (await db.query<ReturnRow>(returnsOf, [ref])).rows;
}

export async function insertRefund(tx: Queryable, payment: PaymentRow, row: ReturnRow, nowMs: number): Promise<void> {
  const values = [row.ref, payment.ref, payment.account_id, row.id, row.status, row.amount_minor, timestamp(nowMs)];
  await tx.query(insertReturnRow, values);
}

export async function insertMethod(tx: Queryable, row: MethodRow, nowMs: number): Promise<void> {
  await tx.query(insertMethodRow, [row.ref, row.account_id, row.card, timestamp(nowMs)]);
}

export async function findMethod(db: Queryable, ref: string): Promise<MethodRow | null> {
  return (await db.query<MethodRow>(methodByRef, [ref])).rows[0] ?? null;
}

export async function detachMethod(db: Queryable, ref: string): Promise<void> {
  await db.query(detachRow, [ref]);
}

export async function insertSubscription(
  tx: Queryable,
  row: Pick<SubscriptionRow, 'ref' | 'method_ref' | 'started_at'>,
  { ref, account_id, amount_minor, currency }: PaymentRow,
  nowMs: number,
): Promise<void> {
  const what = [row.ref, account_id, row.method_ref, amount_minor, currency];
  await tx.query(insertSubscriptionRow, [...what, timestamp(row.started_at), ref, timestamp(nowMs)]);
}

export async function findSubscription(db: Queryable, ref: string): Promise<SubscriptionRow | null> {
  return (await db.query<SubscriptionRow>(subscriptionByRef, [ref])).rows[0] ?? null;
}

/** The oldest renewal that is owed is paid. False: the subscription has ended. */
export async function payRenewal(tx: Queryable, ref: string): Promise<boolean> {
  return (await tx.query(payRenewalRow, [ref])).count === 1;
}

/** `atMs` null: goes on. */
export async function setSubscriptionEnd(db: Queryable, ref: string, atMs: number | null): Promise<void> {
  await db.query(cancelRow, [ref, timestamp(atMs)]);
}
