// What every call needs besides itself: the services of this process on the way of a call.
import type { BodyReaders } from './bulk/readers.ts';
import type { CallServices } from './call.ts';
import type { Endpoint } from './endpoint.ts';
import type { Envelope } from './envelope.ts';
import type { FailedLogins } from './limits/failed-logins.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import type { Traffic } from './limits/traffic.ts';

export interface Gateway extends CallServices {
  /** By capability id. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly envelope: Envelope;
  readonly traffic: Traffic;
  /** Null when RATE_LIMITS=off. */
  readonly limiter: RateLimiter | null;
  readonly failedLogins: FailedLogins;
  readonly bodies: BodyReaders;
}
