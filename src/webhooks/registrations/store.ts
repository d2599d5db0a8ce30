// SQL of webhook registrations. Settings change only under the account's lock (lockAccount). The delivery of events also writes status and
// failure counters, so a change of settings never touches them. Secrets and headers are stored encrypted.

import type { Secrets } from '../../core/secrets/secrets.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

export type WebhookStatus = 'enabled' | 'disabled';
export type RetryPolicy = 'default' | 'aggressive';
export type TargetHeaders = Readonly<Record<string, string>>;

/** What its owner decides about a registration. */
export interface RegistrationSettings {
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly retryPolicy: RetryPolicy;
  readonly timeoutSeconds: number;
  readonly headers: TargetHeaders;
}

/** A signing secret, `whsec_…`, with the characters of it that are shown. */
export interface SigningSecret {
  readonly secret: string;
  readonly last4: string;
}

export interface Registration extends RegistrationSettings {
  readonly webhookId: string;
  readonly secretLast4: string;
  readonly status: WebhookStatus;
  readonly disabledReason: string | null;
  readonly disabledAtMs: number | null;
  /** Since the last success, and when the first of them ended. */
  readonly failedAttempts: number;
  readonly failingSinceMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What one attempt needs to know of its webhook. */
export interface DeliveryTarget {
  readonly webhookId: string;
  readonly url: string;
  readonly headers: TargetHeaders;
  /** Every secret that signs now, `whsec_…`: the current one first, then the one before while it lives. */
  readonly signingSecrets: readonly string[];
  readonly retryPolicy: RetryPolicy;
  readonly timeoutSeconds: number;
  readonly status: WebhookStatus;
}

/** What `targetOf` opens; `previous_secret` only while it signs. */
export interface TargetRow {
  readonly webhook_id: string;
  readonly url: string;
  readonly retry_policy: RetryPolicy;
  readonly timeout_seconds: number;
  readonly headers: Buffer | null;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly status: WebhookStatus;
}

interface RegistrationRow extends Omit<TargetRow, 'secret' | 'previous_secret'> {
  readonly events: string[];
  readonly description: string | null;
  readonly secret_last4: string;
  readonly disabled_reason: string | null;
  readonly disabled_at: number | null;
  readonly failed_attempts: number;
  readonly failing_since: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

const columns = `w.webhook_id, w.url, w.events, w.description, w.retry_policy, w.timeout_seconds, w.headers, w.secret_last4, w.status,
          w.disabled_reason, w.disabled_at, w.failed_attempts, w.failing_since, w.created_at, w.updated_at`;

const selectWebhook = statement(
  'webhook_select',
  `SELECT ${columns} FROM core.webhook w WHERE w.account_id = $1 AND w.webhook_id = $2`,
);
const selectWebhooks = statement(
  'webhook_select_page',
  `SELECT ${columns}
     FROM core.webhook w
    WHERE w.account_id = $1 AND ($2::text IS NULL OR w.webhook_id < $2::text)
    ORDER BY w.webhook_id DESC
    LIMIT $3::int`,
);
const selectTargets = statement(
  'webhook_select_targets',
  `SELECT w.webhook_id, w.url, w.retry_policy, w.timeout_seconds, w.headers, w.secret, w.status,
          CASE WHEN w.previous_secret_until > core.clock_now() THEN w.previous_secret END AS previous_secret
     FROM core.webhook w
    WHERE w.account_id = $1 AND w.webhook_id = ANY($2::text[])`,
);
const selectFailing = statement(
  'webhook_select_failing',
  `SELECT w.webhook_id FROM core.webhook w
    WHERE w.account_id = $1 AND ($2::text IS NULL OR w.webhook_id = $2)
      AND (w.failing_since IS NOT NULL OR w.disabled_reason IN ('gone', 'failing'))
    ORDER BY w.webhook_id LIMIT 1000`,
);
const countAll = statement('webhook_count', 'SELECT count(*) AS webhooks FROM core.webhook WHERE account_id = $1');
const insertRow = statement(
  'webhook_insert',
  `INSERT INTO core.webhook (account_id, webhook_id, url, events, description, retry_policy, timeout_seconds, headers, secret,
                             secret_last4, status, created_at, updated_at)
   VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $10, 'enabled', $11, $11)`,
);
const updateSettings = statement(
  'webhook_update_settings',
  `UPDATE core.webhook
      SET url = $3, events = $4::text[], description = $5, retry_policy = $6, timeout_seconds = $7, headers = $8, updated_at = $9
    WHERE account_id = $1 AND webhook_id = $2`,
);
const updateSecret = statement(
  'webhook_update_secret',
  `UPDATE core.webhook
      SET previous_secret = secret, previous_secret_until = $5, secret = $3, secret_last4 = $4
    WHERE account_id = $1 AND webhook_id = $2`,
);
const updateEnabled = statement(
  'webhook_update_enabled',
  `UPDATE core.webhook SET status = 'enabled', disabled_reason = NULL, disabled_at = NULL, failed_attempts = 0, failing_since = NULL
    WHERE account_id = $1 AND webhook_id = $2`,
);
const updateDisabled = statement(
  'webhook_update_disabled',
  `UPDATE core.webhook SET status = 'disabled', disabled_reason = $3, disabled_at = $4, updated_at = $4
    WHERE account_id = $1 AND webhook_id = $2 AND status = 'enabled'`,
);
const updateFailures = statement(
  'webhook_clear_failures',
  'UPDATE core.webhook SET failed_attempts = 0, failing_since = NULL WHERE account_id = $1 AND webhook_id = $2',
);
const deleteRow = statement('webhook_delete', 'DELETE FROM core.webhook WHERE account_id = $1 AND webhook_id = $2');

const webhookIdPattern = /^wh_[0-9A-Za-z]{20,40}$/;

/** What no webhook of ours can be named is not looked up: such text may not even be valid in PostgreSQL. */
export async function findRegistration(
  db: Queryable,
  secrets: Secrets,
  accountId: string,
  webhookId: string,
): Promise<Registration | null> {
  if (!webhookIdPattern.test(webhookId)) return null;
  const { rows } = await db.query<RegistrationRow>(selectWebhook, [accountId, webhookId]);
  return rows[0] === undefined ? null : registrationOf(secrets, rows[0]);
}

/** Newest first, those before `beforeId` (null: all). */
export async function listRegistrations(
  db: Queryable,
  secrets: Secrets,
  accountId: string,
  beforeId: string | null,
  limit: number,
): Promise<Registration[]> {
  const { rows } = await db.query<RegistrationRow>(selectWebhooks, [accountId, beforeId, limit]);
  return rows.map((row) => registrationOf(secrets, row));
}

/** Ids of those whose deliveries fail, or that were disabled for it; of one, or of all. */
export async function failingRegistrations(
  db: Queryable,
  accountId: string,
  webhookId: string | null,
): Promise<string[]> {
  const { rows } = await db.query<{ webhook_id: string }>(selectFailing, [accountId, webhookId]);
  return rows.map((row) => row.webhook_id);
}

/** The targets of these webhooks as they are now, in any order; deleted ones are missing. */
export async function readTargets(
  db: Queryable,
  secrets: Secrets,
  accountId: string,
  webhookIds: readonly string[],
): Promise<DeliveryTarget[]> {
  const { rows } = await db.query<TargetRow>(selectTargets, [accountId, textArray(webhookIds)]);
  return rows.map((row) => targetOf(secrets, row));
}

/** Decrypts what one attempt needs. */
export function targetOf(secrets: Secrets, row: TargetRow): DeliveryTarget {
  return {
    webhookId: row.webhook_id,
    url: row.url,
    headers: openHeaders(secrets, row),
    signingSecrets: [row.secret, row.previous_secret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => secrets.decrypt('webhook-secret', row.webhook_id, sealed)),
    retryPolicy: row.retry_policy,
    timeoutSeconds: row.timeout_seconds,
    status: row.status,
  };
}

export async function countRegistrations(db: Queryable, accountId: string): Promise<number> {
  const { rows } = await db.query<{ webhooks: bigint }>(countAll, [accountId]);
  return Number(rows[0]?.webhooks ?? 0n);
}

/** Adds a registration, which is enabled. */
export async function insertRegistration(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  registration: RegistrationSettings & { readonly webhookId: string; readonly signing: SigningSecret },
  nowMs: number,
): Promise<void> {
  const { webhookId, signing } = registration;
  await tx.query(insertRow, [
    accountId,
    webhookId,
    ...settingsValues(secrets, webhookId, registration),
    secrets.encrypt('webhook-secret', webhookId, signing.secret),
    signing.last4,
    timestamp(nowMs),
  ]);
}

/** Replaces the settings; secret, status and failure counters stay. */
export async function saveSettings(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  webhookId: string,
  settings: RegistrationSettings,
  nowMs: number,
): Promise<void> {
  const values = [accountId, webhookId, ...settingsValues(secrets, webhookId, settings)];
  await tx.query(updateSettings, [...values, timestamp(nowMs)]);
}

/** Signs with `signing` from now on, and with the secret before it until `previousUntilMs`; an earlier one than that ends. */
export async function replaceSigningSecret(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  webhookId: string,
  signing: SigningSecret,
  previousUntilMs: number,
): Promise<void> {
  const sealed = secrets.encrypt('webhook-secret', webhookId, signing.secret);
  await tx.query(updateSecret, [accountId, webhookId, sealed, signing.last4, timestamp(previousUntilMs)]);
}

/** Enables the registration, whatever disabled it, and forgets its failures. */
export async function enableRegistration(tx: Transaction, accountId: string, webhookId: string): Promise<void> {
  await tx.query(updateEnabled, [accountId, webhookId]);
}

/** Answers whether it was enabled before. Its deliveries are ended by the caller, in the same transaction. */
export async function disableRegistration(
  tx: Transaction,
  accountId: string,
  webhookId: string,
  reason: string,
  nowMs: number,
): Promise<boolean> {
  return (await tx.query(updateDisabled, [accountId, webhookId, reason, timestamp(nowMs)])).count > 0;
}

/** Forgets the failures of a target that is another one now. */
export async function clearFailures(tx: Transaction, accountId: string, webhookId: string): Promise<void> {
  await tx.query(updateFailures, [accountId, webhookId]);
}

/** Answers whether there was such a registration. Its deliveries are ended by the caller, in the same transaction. */
export async function deleteRegistration(tx: Transaction, accountId: string, webhookId: string): Promise<boolean> {
  if (!webhookIdPattern.test(webhookId)) return false;
  return (await tx.query(deleteRow, [accountId, webhookId])).count > 0;
}

/** Values from `url` to `headers`, in the order that both writing statements take them. */
function settingsValues(secrets: Secrets, webhookId: string, settings: RegistrationSettings) {
  const hasHeaders = Object.keys(settings.headers).length > 0;
  return [
    settings.url,
    textArray(settings.events),
    settings.description,
    settings.retryPolicy,
    settings.timeoutSeconds,
    hasHeaders ? secrets.encrypt('webhook-headers', webhookId, JSON.stringify(settings.headers)) : null,
  ];
}

function registrationOf(secrets: Secrets, row: RegistrationRow): Registration {
  return {
    webhookId: row.webhook_id,
    url: row.url,
    events: row.events,
    description: row.description,
    retryPolicy: row.retry_policy,
    timeoutSeconds: row.timeout_seconds,
    headers: openHeaders(secrets, row),
    secretLast4: row.secret_last4,
    status: row.status,
    disabledReason: row.disabled_reason,
    disabledAtMs: row.disabled_at,
    failedAttempts: row.failed_attempts,
    failingSinceMs: row.failing_since,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

function openHeaders(
  secrets: Secrets,
  { webhook_id, headers }: Pick<TargetRow, 'webhook_id' | 'headers'>,
): TargetHeaders {
  return headers === null ? {} : (JSON.parse(secrets.decrypt('webhook-headers', webhook_id, headers)) as TargetHeaders);
}
