// Rows of receivers and of their requests. A receiver's secret is encrypted; the token in its address is derived and stored nowhere.
import type { LivePrincipal } from '../../../core/callers/principal.ts';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { int2Array, int4Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type Resource, resourceTable, rowSaver } from '../../../kit/resource.ts';
import type { Services } from '../../../kit/services.ts';
import { JsonText, toJson } from '../../../lib/json-text.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { problem } from '../problems.ts';
import { urlOf } from './address.ts';
import type { Filter } from './filters.ts';
import { REQUESTS_KEPT } from './limits.ts';
import { type ReceiverRecord, receiverIdField, receiverSchema } from './schemas.ts';
import type { Encoding, Scheme, Verification } from './schemes.ts';

export interface ReceiverRow {
  readonly receiver_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly scheme: Scheme;
  readonly secret: Buffer | null;
  readonly header: string | null;
  readonly encoding: Encoding | null;
  readonly target_kind: 'queue' | 'channel';
  readonly target: string;
  readonly filter: string | null;
  readonly disabled: boolean;
  readonly address_number: number;
  readonly revision: number;
  readonly created_by: string;
  readonly last_received_at: number | null;
  readonly failing_code: string | null;
  readonly failing_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export const capabilityOf = { queue: 'queue.publish', channel: 'realtime.publish' } as const;

/** Whether a principal of these scopes may publish what the receiver publishes. */
export function mayPublish(
  scopes: LivePrincipal['scopes'],
  { target_kind: kind }: Pick<ReceiverRow, 'target_kind'>,
): boolean {
  return scopesAllow(scopes, capabilityOf[kind], 'write');
}

const shape = {
  table: 'core.webhook_receiver',
  key: 'receiver_id',
  columns:
    'receiver_id, name, description, scheme, secret, header, encoding, target_kind, target, filter, disabled, address_number, ' +
    'revision, created_by, last_received_at, failing_code, failing_at, created_at, updated_at',
  isNewestFirst: true,
};
export const receiverTable = resourceTable<ReceiverRow>(shape);
export const saveReceiver = rowSaver<ReceiverRow>(shape);

const removeRequests = statement(
  'webhook_remove_requests',
  'DELETE FROM core.webhook_request WHERE account_id = $1 AND receiver_id = $2',
);

export const receivers: Resource<ReceiverRow, unknown, typeof receiverSchema> = {
  ...receiverTable,
  noun: 'receiver',
  keyName: 'receiver_id',
  keyField: receiverIdField,
  notFound: () => problem('RECEIVER_NOT_FOUND', { param: 'receiver_id' }),
  output: receiverSchema,
  show(row, { ctx }) {
    const { url, ...record } = receiverRecord(ctx.core, ctx.accountId, row);
    // Without a signature the address is all that a sender needs.
    const isShown = row.scheme !== 'none' || mayPublish(ctx.principal.scopes, row);
    return { ...record, url: isShown ? url : null };
  },
  async remove(tx, ctx, receiverId) {
    await tx.query(removeRequests, [ctx.accountId, receiverId]);
    return receiverTable.remove(tx, ctx, receiverId);
  },
};

export function receiverRecord(
  core: Pick<Services, 'secrets' | 'baseUrl'>,
  accountId: string,
  row: ReceiverRow,
): ReceiverRecord & { readonly url: string } {
  const { failing_code: code, failing_at: at, disabled, target_kind: kind, target } = row;
  return {
    receiver_id: row.receiver_id,
    url: urlOf(core, { accountId, receiverId: row.receiver_id, addressNumber: row.address_number }),
    name: row.name,
    description: row.description,
    verify: { scheme: row.scheme, header: row.header, encoding: row.encoding },
    to: { queue: kind === 'queue' ? target : null, channel: kind === 'channel' ? target : null },
    filter: row.filter === null ? null : JSON.parse(row.filter),
    state: disabled ? 'disabled' : code === null ? 'active' : 'failing',
    last_error: code === null || at === null ? null : { code, at: iso(at) },
    last_received_at: isoOrNull(row.last_received_at),
    created_by: row.created_by,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

const LABEL = 'webhook-receiver';

export function sealSecret({ secrets }: Pick<Services, 'secrets'>, receiverId: string, secret: string): Buffer {
  return secrets.encrypt(LABEL, receiverId, secret);
}

export function verificationOf({ secrets }: Pick<Services, 'secrets'>, row: ReceiverRow): Verification {
  const { scheme, secret, header, encoding, receiver_id: id } = row;
  return {
    scheme,
    secret: secret === null ? '' : secrets.decrypt(LABEL, id, secret),
    header: header ?? '',
    encoding: encoding ?? 'hex',
  };
}

export function filterOf({ filter }: ReceiverRow): Filter | null {
  if (filter === null) return null;
  const { events, json } = JSON.parse(filter) as { events?: string[] | null; json?: unknown };
  return { events: events ?? [], json: json ?? null };
}

/** A request that was verified, and what came of it. */
export interface ReceivedRequest {
  readonly accountId: string;
  readonly receiverId: string;
  readonly requestId: string;
  readonly receivedMs: number;
  readonly outcome: string;
  readonly status: number;
  readonly code: string | null;
  readonly event: string | null;
  readonly deliveryId: string | null;
  readonly bytes: number;
  readonly messageId: string | null;
  readonly message: string | null;
}

export interface RequestRow {
  readonly request_id: string;
  readonly receiver_id: string;
  readonly received_at: number;
  readonly outcome: string;
  readonly status: number;
  readonly code: string | null;
  readonly event: string | null;
  readonly delivery_id: string | null;
  readonly bytes: number;
  readonly message_id: string | null;
  readonly message: string | null;
}

const requestColumns =
  'q.request_id, q.receiver_id, q.received_at, q.outcome, q.status, q.code, q.event, q.delivery_id, q.bytes, q.message_id, q.message';
const insertRequests = statement(
  'webhook_insert_requests',
  `INSERT INTO core.webhook_request AS q (account_id, receiver_id, request_id, received_at, outcome, status, code, event, delivery_id,
                                          bytes, message_id, message)
   SELECT r.account_id, r.receiver_id, u.request_id, u.received_at, u.outcome, u.status, u.code, u.event, u.delivery_id,
          u.bytes, u.message_id, u.message
     FROM core.webhook_receiver r,
          unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::smallint[], $7::text[], $8::text[], $9::text[],
                 $10::integer[], $11::text[], $12::text[])
          u(receiver_id, request_id, received_at, outcome, status, code, event, delivery_id, bytes, message_id, message)
    WHERE r.account_id = $1 AND r.receiver_id = u.receiver_id
       ON CONFLICT (account_id, receiver_id, request_id) DO NOTHING`,
);
const markReceived = statement(
  'webhook_mark_received',
  `UPDATE core.webhook_receiver SET last_received_at = $3, failing_code = $4, failing_at = $5
    WHERE account_id = $1 AND receiver_id = $2 AND (last_received_at IS NULL OR last_received_at <= $3)`,
);
const trimRequests = statement(
  'webhook_trim_requests',
  `DELETE FROM core.webhook_request
    WHERE account_id = $1 AND receiver_id = $2 AND request_id <=
          (SELECT o.request_id FROM core.webhook_request o
            WHERE o.account_id = $1 AND o.receiver_id = $2 ORDER BY o.request_id DESC OFFSET ${REQUESTS_KEPT} LIMIT 1)`,
);
const selectRequests = statement(
  'webhook_select_requests',
  `SELECT ${requestColumns} FROM core.webhook_request q
    WHERE q.account_id = $1 AND q.receiver_id = $2 AND q.request_id < $3 ORDER BY q.request_id DESC LIMIT $4::int`,
);
const selectRequest = statement(
  'webhook_select_request',
  `SELECT ${requestColumns} FROM core.webhook_request q
    WHERE q.account_id = $1 AND q.receiver_id = $2 AND q.request_id = $3`,
);

/** Writes what one account received, in the order in which it came; of receivers that are gone nothing. */
export async function writeRequests(
  db: Services['db'],
  accountId: string,
  requests: readonly ReceivedRequest[],
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(insertRequests, [
      accountId,
      textArray(requests.map((one) => one.receiverId)),
      textArray(requests.map((one) => one.requestId)),
      timestampArray(requests.map((one) => one.receivedMs)),
      textArray(requests.map((one) => one.outcome)),
      int2Array(requests.map((one) => one.status)),
      textArray(requests.map((one) => one.code)),
      textArray(requests.map((one) => one.event)),
      textArray(requests.map((one) => one.deliveryId)),
      int4Array(requests.map((one) => one.bytes)),
      textArray(requests.map((one) => one.messageId)),
      textArray(requests.map((one) => one.message)),
    ]);
    for (const [receiverId, of] of Map.groupBy(requests, (one) => one.receiverId)) {
      const last = of.at(-1) as ReceivedRequest;
      const failing = last.outcome === 'refused' ? last.code : null;
      const at = timestamp(last.receivedMs);
      await tx.query(markReceived, [accountId, receiverId, at, failing, failing === null ? null : at]);
      await tx.query(trimRequests, [accountId, receiverId]);
    }
  });
}

export async function listRequests(
  db: Queryable,
  accountId: string,
  receiverId: string,
  before: string | null,
  limit: number,
): Promise<readonly RequestRow[]> {
  return (await db.query<RequestRow>(selectRequests, [accountId, receiverId, before ?? '~', limit])).rows;
}

export async function findReceived(
  db: Queryable,
  accountId: string,
  receiverId: string,
  requestId: string,
): Promise<RequestRow | null> {
  return (await db.query<RequestRow>(selectRequest, [accountId, receiverId, requestId])).rows[0] ?? null;
}

export function requestRecord({ message, received_at: at, ...row }: RequestRow) {
  const record = toJson({ ...row, received_at: iso(at) });
  return new JsonText(`${record.slice(0, -1)},"message":${message ?? 'null'}}`);
}
