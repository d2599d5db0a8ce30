// Limits and constants of the cron module.
import { isLong } from '../../core/outbound/long-calls.ts';
import type { PriceName } from '../../kit/capability.ts';

/** What a run costs; also what it is booked as. */
export const RUN_PRICE: PriceName = 'cron.run';
/** The names of its background work: runs that end soon, and runs that may take minutes, which never hold places of the others. */
export const RUNS = 'cron.runs';
export const LONG_RUNS = 'cron.long_runs';
export const workOf = (timeoutSeconds: number) => (isLong(timeoutSeconds) ? LONG_RUNS : RUNS);
/** How many next runs of a job are shown. */
export const NEXT_RUNS = 5;
export const PAYLOAD_BYTES_MAX = 64 * 1024;
/** Of a job's settings: the payload, of the URL or of another target, and room for 20 headers of 4 KiB. */
export const BODY_BYTES_MAX = 192 * 1024;
export const NAME_CHARACTERS_MAX = 128;
export const URL_CHARACTERS_MAX = 2_048;
export const SECRET_CHARACTERS_MAX = 256;
export const EXPRESSION_CHARACTERS_MAX = 100;
/** Runs at once on one process. They mostly wait for somebody else's server. */
export const RUNS_AT_ONCE = 256;
/** Runs that one transaction may begin: the account's other calls wait for its wallet meanwhile. */
export const RUNS_PER_CLAIM = 16;
/** Renewed while an attempt goes on: after that its process is taken for dead. */
export const LEASE_MS = 30_000;
export const RENEW_EVERY_MS = 10_000;
export const RETRIES_MAX = 10;
/** A call is repeated while its idempotency key keeps its answer, which is a day. */
export const REPEAT_WITHIN_MS = 20 * 3_600_000;
/** An account without room for another long run is looked at again. */
export const NO_ROOM_MS = 5_000;
/** A run that waits for a person looks again after so long. */
export const APPROVAL_LOOK_MS = 15_000;
/** A run whose attempts all died with their process is given up. */
export const ATTEMPTS_MAX = 5;
/** How long the earlier signing secret signs beside a new one (contract of webhooks). */
export const PREVIOUS_SECRET_MS = 24 * 3_600_000;
/** How long runs and completed jobs are kept. */
export const KEEP_DAYS = 30;
