// Limits of the image module; the decode bounds of a picture are in core/admission.ts.
import type { TierLimit } from '../../core/callers/tiers.ts';

export const SIDE_PX_MAX = 8_192;
export const BLUR_MIN = 0.3;
export const BLUR_MAX = 50;
export const SHARPEN_MIN = 0.5;
export const SHARPEN_MAX = 10;
/** 20 MiB as base64, and what stands beside it. */
export const BODY_BYTES_MAX = 28 * 1024 * 1024;

/** By tier; account.tier shows it. Live: queued or running. */
export const imageLimits = {
  image_jobs: { description: 'Image jobs that are queued or running.', standard: 10, pro: 50, enterprise: 500 },
} satisfies Readonly<Record<string, TierLimit>>;

export const PROMPT_CHARACTERS_MAX = 4_000;
export const SEED_MAX = 2 ** 32 - 1;
/** Of one call. */
export const IMAGES_MAX = 10;
/** An image of 20 MiB as base64, or two shorter ones. */
export const GENERATE_BODY_BYTES_MAX = 28 * 1024 * 1024;
/** Jobs that the sandbox draws at once on one process. */
export const SANDBOX_PLACES = 2;
