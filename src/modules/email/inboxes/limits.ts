// Limits and constants of received mail.

/** Of a mail, as it is received: 552. */
export const RECEIVED_BYTES_MAX = 10 * 1024 * 1024;
/** Of a mail that comes by SMTP: 552. The longest mail of base64 has 138,000. */
export const RECEIVED_LINES_MAX = 500_000;
/** Of one inbox: 452 beyond, so that its sender tries again. */
export const PER_MINUTE_MAX = 100;
export const KEPT_MAX = 10_000;
export const RECEIVED_DAYS = 30;
/** The same mail within so long is known, and kept once: its sender did not hear that it was taken. */
export const KNOWN_AGAIN_MS = 24 * 60 * 60_000;
/** Servers that a mail may have passed: more is a loop. */
export const HOPS_MAX = 25;
/** Longer ones are kept in the asset store. */
export const SOURCE_IN_ROW_BYTES_MAX = 32 * 1024;
export const WAIT_SECONDS_MAX = 20;
/** Mails of one answer: each may bring 320 KB of text. */
export const MESSAGES_MAX = 20;
export const LINK_MS = 60 * 60_000;
/** The name of its background work: messages for the queues of inboxes. */
export const QUEUEING = 'email.inbox_queue';
