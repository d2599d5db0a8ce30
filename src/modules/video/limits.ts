// Limits of the video module; limits of jobs of all kinds are in src/jobs/limits.ts.
import type { TierLimit } from '../../core/callers/tiers.ts';

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
/** What the hold for storage assumes of 720p; others by their multiplier. */
export const ASSUMED_BITS_PER_SECOND = 8_000_000;
