// Limits and constants of sending mail.
import type { PriceName } from '../../kit/capability.ts';

export const SEND_PRICE: PriceName = 'email.send';
/** The name of its background work: attempts to send. */
export const SENDING = 'email.sending';

export const RECIPIENTS_MAX = 50;
/** Of a mail as it goes out. */
export const MAIL_BYTES_MAX = 10 * 1024 * 1024;
export const TEXT_BYTES_MAX = 1024 * 1024;
export const ATTACHMENTS_MAX = 50;
/** Base64, and JSON around it. */
export const BODY_BYTES_MAX = 15 * 1024 * 1024;
export const BATCH_MAX = 100;
export const BATCH_RECIPIENTS_MAX = 1_000;
export const BATCH_BODY_BYTES_MAX = 512 * 1024;
export const SUBJECT_CHARACTERS_MAX = 998;
export const HEADERS_MAX = 50;
export const HEADER_CHARACTERS_MAX = 2_000;
export const TAGS_MAX = 20;
/** A mail may be ordered so far ahead. */
export const SEND_AHEAD_DAYS = 3_650;

/** Longer ones are kept in the asset store. */
export const SOURCE_IN_ROW_BYTES_MAX = 32 * 1024;
/** Longer ones are composed and signed in a thread. */
export const COMPOSE_HERE_BYTES_MAX = 64 * 1024;
/** Such mails sent at once by this process: each is held whole, some 35 MiB at most; more wait, in turns by account. */
export const LONG_MAILS_AT_ONCE = 4;

/** Recipients a minute. */
export const recipientsPerMinute = { standard: 600, pro: 6_000, enterprise: 60_000 };

/** How long what was sent is kept. */
export const KEEP_DAYS = 30;

/** Attempts at once on this process; each has a connection of a relay. */
export const ATTEMPTS_AT_ONCE = 64;
export const ATTEMPTS_PER_CLAIM = 16;
/** An attempt ends in time: another process takes its mail when the lease is over. */
export const ATTEMPT_MS_MAX = 45_000;
export const LEASE_MS = 60_000;
/** How long a call waits for its attempt. */
export const WAIT_MS_MAX = 30_000;

const MINUTE_MS = 60_000;
/** After a deferral the next attempt follows so much later; after the last one the mail has failed. */
export const DEFERRED_MS = [1, 5, 15, 60, 240, 480, 720].map((minutes) => minutes * MINUTE_MS);

/** Bounces of an address within so many days that suppress it. */
export const BOUNCES_MAX = 3;
export const BOUNCE_DAYS = 30;
