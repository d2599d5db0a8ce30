// Interface of the gateway: the services of this process that every call uses.
import type { RuleSets } from '../approvals/rules.ts';
import type { AccountPlaces } from '../core/account-places.ts';
import type { BodyReaders } from './bulk/readers.ts';
import type { CallServices } from './call.ts';
import type { Endpoint } from './endpoint.ts';
import type { Envelope } from './envelope.ts';
import type { FailedLogins, LoginFailures } from './limits/failed-logins.ts';
import type { Rates } from './limits/rate-limiter.ts';
import type { Traffic } from './limits/traffic.ts';

export interface Gateway extends CallServices {
  /** By capability id. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly envelope: Envelope;
  readonly traffic: Traffic;
  /** Which calls a person must approve, by account. */
  readonly ruleSets: RuleSets;
  /** Null when RATE_LIMITS=off. */
  readonly limiter: Rates | null;
  readonly failedLogins: LoginFailures;
  /** Wrong signatures of bodies, by address and the id that they name: in this process. */
  readonly wrongSignatures: FailedLogins;
  readonly bodies: BodyReaders;
  /** For compressed bodies: what a small one inflates to is not known before it is there. */
  readonly inflating: AccountPlaces;
}
