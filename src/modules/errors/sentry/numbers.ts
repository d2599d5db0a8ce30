// Limits and constants of the endpoints that Sentry SDKs post to.
const MIB = 1024 * 1024;

/** One event, decompressed; the same as of errors.capture. */
export const EVENT_BYTES_MAX = MIB;
/**
 * A whole envelope, as sent and decompressed: room for the 20 MiB that SDKs let an attachment have beside its event. What is no event
 * passes by and is never held.
 */
export const ENVELOPE_BYTES_MAX = 24 * MIB;
/** A body of the store endpoint as sent: an event that does not get shorter when it is compressed takes a third more in base64. */
export const STORE_BYTES_MAX = 2 * MIB;
/** Of the first line of an envelope, where its key may stand. */
export const HEADER_BYTES_MAX = 64 * 1024;
/** Of the header lines of its items together. */
export const ITEM_HEADERS_BYTES_MAX = 256 * 1024;
export const ITEMS_MAX = 1_000;
/** Exceptions of one event, causes included. */
export const EXCEPTIONS_MAX = 50;
export const FINGERPRINT_PARTS_MAX = 100;
export const DEPTH_MAX = 100;
/** How long an SDK is told to hold its events while the wallet is empty. */
export const NO_CREDIT_BACK_OFF_MS = 60_000;
/** An SDK that is told to wait for a budget's new day would not notice that the cap was raised. */
export const BACK_OFF_MS_MAX = 300_000;
/** An event that says it is older happened when it was received. */
export const AGE_MS_MAX = 30 * 24 * 3_600_000;
export const AHEAD_MS_MAX = 60_000;
