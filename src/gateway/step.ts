// A step of the pipeline, and what it is given.
import type { Core } from '../core/context.ts';
import type { BodyReaders } from './bulk/readers.ts';
import type { Call } from './call.ts';
import type { FailedLogins } from './failed-logins.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** What the steps need besides the call. */
export interface Gateway {
  readonly core: Core;
  /** Null when RATE_LIMITS=off. */
  readonly limiter: RateLimiter | null;
  readonly failedLogins: FailedLogins;
  readonly bodies: BodyReaders;
}

export type Step = (call: Call, gateway: Gateway) => void | Promise<void>;
