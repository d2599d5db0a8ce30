// Numbers of the video module.
import type { TierLimit } from '../../core/accounts/tiers.ts';
import { DAY_MS } from '../../lib/time.ts';

/** By tier; account.tier shows it. Live: queued or running. */
export const videoLimits = {
  video_jobs: { description: 'Video jobs that are queued or running.', standard: 10, pro: 50, enterprise: 500 },
} satisfies Readonly<Record<string, TierLimit>>;

export const PROMPT_CHARACTERS_MAX = 4_000;
export const NEGATIVE_PROMPT_CHARACTERS_MAX = 2_000;
export const SECONDS_MIN = 1;
export const SECONDS_MAX = 60;
/** Of a video that extend delivers. */
export const VIDEO_SECONDS_MAX = 180;
export const SEED_MAX = 2 ** 32 - 1;
export const BODY_BYTES_MAX = 16 * 1024 * 1024;
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
/** What the hold for storage assumes of 720p; others by their multiplier. */
export const ASSUMED_BITS_PER_SECOND = 8_000_000;
/** How long a prompt may have a job of the sandbox hang. */
export const HANG_MS_MAX = 10 * 60_000;
/** A job for which no vendor was found to work in so long has failed. */
export const NO_VENDOR_MS = 10 * 60_000;
/** What came of a submission without an answer is waited for so long. */
export const UNKNOWN_OUTCOME_MS = 10 * 60_000;
export const PICKUP_HOURS = 24;
/** A step that its process does not renew is due again after so long. */
export const LEASE_MS = 30_000;
/** Jobs at vendors that take a step at once on one process: they mostly wait for somebody else's server. */
export const STEPS_AT_ONCE = 64;

export const VENDOR_WORK = 'video.vendor';
export const SANDBOX_WORK = 'video.sandbox';
export const WEBHOOK_WORK = 'video.webhooks';
/** Deliveries to webhooks of jobs at once on one process. */
export const DELIVERIES_AT_ONCE = 32;
