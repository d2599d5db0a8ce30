// What the operator has set, as far as the texts of this service depend on it: they say what holds here.

export interface Deployment {
  readonly region: 'western' | 'china';
  /** Networks that URLs of callers may lead into although they are not public, as `10.0.0.0/8`. */
  readonly privateTargets: readonly string[];
  /** Whether calls are limited by rate. */
  readonly rateLimits: boolean;
}

/** With nothing set. */
export const plainDeployment: Deployment = { region: 'western', privateTargets: [], rateLimits: true };

/** Where URLs of callers may lead. */
export function targetsInWords({ privateTargets }: Deployment): string {
  const rule =
    'A URL that is called must be https, without user information, and lead to public addresses; private, loopback and other special ones are refused';
  if (privateTargets.length === 0) return `${rule}.`;
  const networks = privateTargets.join(', ');
  return `${rule}, except those in ${networks}, which the operator of this service allows: there http, any port and any host name will do.`;
}
