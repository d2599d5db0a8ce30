// Limits and defaults of jobs of every kind.
import { DAY_MS } from '../lib/time.ts';

export const RETENTION_DAYS_MAX = 365;
export const RETENTION_DAYS = 30;
export const WEBHOOKS_MAX = 5;
export const LINK_SECONDS_MIN = 60;
export const LINK_SECONDS_MAX = 86_400;
export const LINK_SECONDS = 3_600;
/** In events. */
export const EVENT_LINK_SECONDS = 86_400;
/** How long idempotency keys of jobs are answered. */
export const KEY_KEEP_MS = 30 * DAY_MS;
/** How long records of ended jobs are kept. */
export const RECORD_DAYS = 90;
/** How long a prompt may have a job of the sandbox hang. */
export const HANG_MS_MAX = 10 * 60_000;
/** A job for which no vendor was found to work in so long has failed. */
export const NO_VENDOR_MS = 10 * 60_000;
/** What came of a submission without an answer is waited for so long. */
export const UNKNOWN_OUTCOME_MS = 10 * 60_000;
/** How long what was made is kept when it is not stored. */
export const PICKUP_HOURS = 24;
/** A step that its process does not renew is due again after so long. */
export const LEASE_MS = 30_000;
/** Jobs at vendors that take a step at once on one process: they mostly wait for somebody else's server. */
export const STEPS_AT_ONCE = 64;
/** Deliveries to webhooks of jobs at once on one process. */
export const DELIVERIES_AT_ONCE = 32;
