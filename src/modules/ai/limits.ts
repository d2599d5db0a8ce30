// Limits and constants of the ai module.
import type { TierLimit } from '../../core/callers/tiers.ts';
import { DAY_MS } from '../../lib/time.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** By tier: calls of models at once. */
export const callsAtOnce = {
  description: 'Calls of AI models at once.',
  standard: 20,
  pro: 100,
  enterprise: 1_000,
} satisfies TierLimit;

export const BODY_BYTES_MAX = 16 * 1024 * 1024;
export const CHOICES_MAX = 128;
/** Content parts of all messages of a request; a message without a list of parts counts as one. */
export const CONTENT_PARTS_MAX = 10_000;
/** Members of objects and elements of lists in a body, beside the inputs of embeddings; and how deep they may stand. */
export const BODY_VALUES_MAX = 50_000;
export const BODY_DEPTH_MAX = 100;
/** Of embeddings that are asked for by tokens. */
export const TOKENS_SENT_MAX = 500_000;
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

/** What a number of an embedding takes: in its vector, and in the answer that it came in. */
export const NUMBER_BYTES = 12;
/** In the text of an answer. */
export const NUMBER_TEXT_BYTES = 20;
/** Of a vector whose model does not say; what there are more counts when they have come. */
export const DIMENSIONS_UNSAID = 1_536;
/** A call holds no more of what account and process may hold of answers: by half of the least of these each call has its turn. */
export const VECTOR_BYTES_HELD_MAX = 32 * MIB;
/** Of an answer in the envelope, which is one text. */
export const ENVELOPED_NUMBERS_MAX = 1024 * 1024;
/** Of words that a response is put together of, uncounted; and all of them, beyond which its vendor has failed. */
export const RESPONSE_CHARACTERS_FREE = 64 * 1024;
export const RESPONSE_CHARACTERS_MAX = 4 * 1024 * 1024;

/** By tier: batches that have not ended. */
export const liveBatches = {
  description: 'AI batches that have not ended.',
  standard: 10,
  pro: 50,
  enterprise: 200,
} satisfies TierLimit;
/** By tier: what batches keep, requests and results. */
export const batchBytes = { standard: 1 * GIB, pro: 4 * GIB, enterprise: 16 * GIB };
/** That are kept, ended ones too. */
export const BATCHES_KEPT_MAX = 10_000;
export const BATCH_REQUESTS_MAX = 10_000;
export const BATCH_BODY_BYTES_MAX = 32 * MIB;
/** Of one request of a batch: it is read between the calls of others. */
export const BATCH_REQUEST_BYTES_MAX = 4 * MIB;
/** Of one request for embeddings: its result is kept. */
export const BATCH_INPUTS_MAX = 256;
/** What one batch keeps; beyond, its remaining requests fail. */
export const ONE_BATCH_BYTES_MAX = 256 * MIB;
/** What has not begun by then never does. */
export const BATCH_EXPIRES_MS = DAY_MS;
export const RESULT_DAYS = 7;
/** A process that dies leaves its requests for so long. */
export const ITEM_LEASE_MS = 60_000;
/** A request that fails for a while is made so often. */
export const ITEM_TRIES_MAX = 3;
/** Results of one page, beyond the first. */
export const RESULT_PAGE_BYTES_MAX = 4 * MIB;
