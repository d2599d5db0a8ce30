// Numbers of webhook receivers. The body of a request, and what waits to be listed, stand in core/admission.ts.
import { rowCount } from '../../../kit/resource.ts';

const KIB = 1024;

export const receiverLimits = {
  webhook_receivers: {
    description: 'Receivers of webhooks that other services send.',
    used: rowCount('core.webhook_receiver'),
    standard: 20,
    pro: 200,
    enterprise: 2_000,
  },
};

/** What a message of a queue may have at most; a longer body is read no further. */
export const PARSED_BYTES_MAX = 256 * KIB;
export const NAME_CHARACTERS_MAX = 100;
export const SECRET_CHARACTERS_MAX = 512;
export const FILTER_EVENTS_MAX = 50;
/** Of events and delivery ids that senders name. */
export const NAMED_CHARACTERS_MAX = 200;
/** Timestamps of a scheme may be so far from now. */
export const TOLERANCE_MS = 5 * 60_000;
/** Signatures that one header may hold: while a sender's secret is rotated it sends two. */
export const SIGNATURES_MAX = 10;
/** Requests of a receiver that are listed. */
export const REQUESTS_KEPT = 1_000;
/** A longer message is listed without its content, and cannot be replayed. */
export const KEPT_MESSAGE_BYTES_MAX = 64 * KIB;
/** A receiver is looked up again after so long. Its changes hold at once: the commit looks at it again. */
export const CACHE_MS = 1_000;
export const RECEIVERS_REMEMBERED = 20_000;
/** When senders are to come again: for what takes a person, and for what passes. */
export const RETRY_LATER_MS = 60_000;
export const RETRY_SOON_MS = 1_000;
