// Queue and message records on the wire (specification, "Queue" and "Queue message").
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import type { MessageIds } from '../messages/message-id.ts';

export interface QueueRow {
  readonly account_id: string;
  readonly name: string;
  readonly queue_id: bigint;
  readonly type: 'standard' | 'fifo';
  readonly retention_seconds: number;
  readonly max_message_bytes: number;
  readonly visibility_timeout_default: number;
  readonly delivery_delay_seconds: number;
  readonly enable_priority: boolean;
  readonly has_bands: boolean;
  readonly dlq_id: bigint | null;
  readonly former_dlq_ids: readonly bigint[];
  readonly dlq_name: string | null;
  readonly max_receive_count: number;
  /** The name as a client of SQS spelled it; null: made natively. */
  readonly sqs_name: string | null;
  /** JSON text of what only SQS has (sqs/settings.ts); null: nothing. */
  readonly sqs_settings: string | null;
  readonly revision: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Names follow a pattern without quotes, so the record needs no escaping where it is built as text. */
export function queueRecord(row: QueueRow) {
  return {
    name: row.name,
    type: row.type,
    account_id: row.account_id,
    message_retention_days: Math.ceil(row.retention_seconds / 86_400),
    max_message_size_kb: Math.ceil(row.max_message_bytes / 1024),
    visibility_timeout_default: row.visibility_timeout_default,
    delivery_delay_seconds: row.delivery_delay_seconds,
    enable_priority: row.enable_priority,
    sqs_name: row.sqs_name,
    dlq_name: row.dlq_name,
    dead_letter_queue: row.dlq_name,
    max_receive_count: row.max_receive_count,
    max_retries: row.max_receive_count,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** The columns of a message that its record shows; payload and headers are JSON texts as they were sent. */
export interface MessageRow {
  readonly seq: bigint;
  readonly delivery_count: number;
  readonly priority: number;
  readonly group_id: string | null;
  readonly deduplication_id: string | null;
  readonly headers: string | null;
  readonly payload: string;
}

/** What of a message only SQS has, as JSON text (sqs/message.ts); null: nothing. */
export interface ForeignPart {
  readonly sqs: string | null;
}

export interface MessageView {
  readonly accountId: string;
  readonly queue: string;
  readonly status: 'available' | 'in_flight' | 'dlq';
  readonly availableMs: number;
  /** End of the lease; null when not leased. */
  readonly leaseEndMs: number | null;
  /** Further members, each as `,"name":value`. */
  readonly extra?: string;
}

/** The id in the JSON text of a message record: it is the first member. */
export function idInMessageText(text: string): string {
  return text.slice(ID_BEGINS, text.indexOf('"', ID_BEGINS));
}

const ID_BEGINS = '{"message_id":"'.length;

/** JSON text of a message record. Built by hand: payload and headers must reach the wire byte for byte. */
export function messageText(ids: MessageIds, row: MessageRow, view: MessageView): string {
  const lease = view.leaseEndMs === null ? 'null' : `"${iso(view.leaseEndMs)}"`;
  const group = row.group_id === null ? 'null' : JSON.stringify(row.group_id);
  const deduplication = row.deduplication_id === null ? 'null' : JSON.stringify(row.deduplication_id);
  return (
    `{"message_id":"${ids.messageId(view.accountId, row.seq)}","queue":"${view.queue}","account_id":"${view.accountId}",` +
    `"payload":${row.payload},"headers":${row.headers ?? 'null'},"status":"${view.status}","delivery_count":${row.delivery_count},` +
    `"visibility_timeout_expires_at":${lease},"published_at":"${iso(sequenceMs(row.seq))}","available_at":"${iso(view.availableMs)}",` +
    `"priority":${row.priority},"message_group_id":${group},"deduplication_id":${deduplication}${view.extra ?? ''}}`
  );
}
