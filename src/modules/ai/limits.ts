// Numbers of the module ai.
import type { TierLimit } from '../../core/accounts/tiers.ts';

/** By tier: calls of models at once. */
export const callsAtOnce = {
  description: 'Calls of AI models at once.',
  standard: 20,
  pro: 100,
  enterprise: 1_000,
} satisfies TierLimit;

export const BODY_BYTES_MAX = 16 * 1024 * 1024;
export const CHOICES_MAX = 128;
export const INPUTS_MAX = 2_048;
export const CACHE_TTL_SECONDS_MAX = 86_400;
export const DIMENSIONS_MIN = 64;
export const DIMENSIONS_MAX = 4_096;

/** What is held for input is counted tokens times this: vendors count differently. */
export const INPUT_MARGIN = 1.2;
/** Of an image, unless its model says otherwise. */
export const TOKENS_PER_IMAGE = 1_600;
/** The limit of an output that says none, where its model has none of its own. */
export const OUTPUT_TOKENS = 16_384;
export const REASONING_OUTPUT_TOKENS = 32_768;
/** To no less does a limit shrink that the caller did not set. */
export const OUTPUT_TOKENS_LEAST = 1_024;

/** Headers of a stream go out after so long, content or not. */
export const HEAD_AFTER_MS = 15_000;
export const COMMENT_EVERY_MS = 10_000;
/** Of a stream, before its first content. */
export const PREAMBLE_PIECES_MAX = 1_000;
/** An answer that nobody waits for any more is read for so long, where its vendor bills it all the same. */
export const DRAIN_MS = 60_000;
/** Longer answers are not kept for repeats of their idempotency key. */
export const KEPT_BYTES_MAX = 1024 * 1024;

/** Of an account, in the database; further ones are cached in their process alone. */
export const CACHED_ANSWERS_MAX = 1_000;
/** Longer answers are not cached. */
export const CACHED_BYTES_MAX = 256 * 1024;
/** Of cached answers in a process. */
export const CACHE_BYTES_MAX = 64 * 1024 * 1024;
