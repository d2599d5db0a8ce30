// Settings and messages of the model as the service takes and shows them.
import type { ModelMessage, ModelSettings } from './queue-model-types.ts';

/** Fields of create and update; what is undefined is not sent. */
export function settingsFields(own: Partial<ModelSettings>, nameOf: (queue: string) => string) {
  return {
    message_retention_days: own.retentionDays,
    visibility_timeout_default: own.visibility,
    delivery_delay_seconds: own.delay,
    enable_priority: own.priority,
    max_retries: own.maxReceive,
    dead_letter_queue: own.dlq == null ? own.dlq : nameOf(own.dlq),
  };
}

export interface View {
  readonly queue: string;
  readonly status: 'available' | 'in_flight' | 'dlq';
  readonly availableMs: number;
  readonly leaseEndMs?: number;
}

/** The whole record of a message; its id and account are what publishing answered. */
export function messageRecord(
  one: ModelMessage,
  { message_id, account_id }: { message_id: string; account_id: string },
  view: View,
) {
  return {
    message_id,
    queue: view.queue,
    account_id,
    payload: { n: one.n },
    headers: null,
    status: view.status,
    delivery_count: one.count,
    visibility_timeout_expires_at: view.leaseEndMs === undefined ? null : iso(view.leaseEndMs),
    published_at: iso(one.publishedMs),
    available_at: iso(view.availableMs),
    priority: one.priority,
    message_group_id: one.group || null,
    deduplication_id: one.dedup ?? null,
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
