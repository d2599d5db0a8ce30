// Limits of the queue module (specification, "Limits"; contract of queue).
import type { CountedLimit } from '../../core/callers/tiers.ts';
import { LEASE_MARGIN_SECONDS, SHORT_SECONDS } from '../../core/outbound/long-calls.ts';
import { rowCount } from '../../kit/resource.ts';

/** By tier; account.tier shows it. */
export const queueLimits = {
  queues: {
    description: 'Queues.',
    used: rowCount('queue.queue'),
    standard: 1_000,
    pro: 10_000,
    enterprise: 100_000,
  },
} satisfies Readonly<Record<string, CountedLimit>>;

export const DEFAULT_BAND = 10;
/** Band of a message during the last lease it may have: a lease that ends there leads to the dead-letter queue. */
export const LAST_LEASE_BAND = 127;
/** Group of FIFO messages that name none. */
export const DEFAULT_GROUP = '';
export const DEDUPLICATION_WINDOW_MS = 5 * 60_000;
export const BATCH_MESSAGES_MAX = 100;
export const BATCH_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Four times the largest message: what is somewhat too long is told by its field. */
export const PUBLISH_BODY_BYTES_MAX = 1024 * 1024;
/** Of what takes, acknowledges or returns messages: three times a list of 100 receipts. */
export const RECEIPTS_BODY_BYTES_MAX = 16 * 1024;
/** Room for 20 headers of 4 KiB. */
export const SUBSCRIBE_BODY_BYTES_MAX = 128 * 1024;
/** Of the messages that a batch repeats. What one batch has published is answered again whole: it had half of that. */
export const BATCH_REPEATED_BYTES_MAX = 2 * BATCH_BODY_BYTES_MAX;
/** A page of a list ends with the message that reaches it: at most a message more. */
export const PAGE_BYTES = 4 * 1024 * 1024;
/** Why a message is given back. */
export const REASON_CHARACTERS_MAX = 500;
/** A longer payload is left out of the event of a dead-lettered message. */
export const EVENT_PAYLOAD_BYTES_MAX = 16 * 1024;
export const CONSUME_MAX = 10;
export const WAIT_SECONDS_MAX = 20;
export const RECEIPTS_MAX = 100;
export const DELAY_SECONDS_MAX = 604_800;
export const VISIBILITY_SECONDS_MAX = 43_200;

export const SUBSCRIPTIONS_PER_QUEUE_MAX = 10;
export const IN_FLIGHT_MAX = 10;
/** A lease must outlast an attempt of the usual 15 s. */
export const LEASE_SECONDS_MIN = SHORT_SECONDS + LEASE_MARGIN_SECONDS;

/** Where a message with this priority stands in the order: 0 comes first. */
export function bandOf(priority: number, enablePriority: boolean): number {
  return enablePriority ? DEFAULT_BAND - priority : DEFAULT_BAND;
}
