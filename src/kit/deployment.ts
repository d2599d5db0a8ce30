// Settings of the operator that appear in the texts of this service, so that the texts state what applies to this deployment.

export interface Deployment {
  readonly region: 'western' | 'china';
  /** Networks that URLs of callers may be called in although they are not public, as `10.0.0.0/8`. */
  readonly privateTargets: readonly string[];
  /** The same for URLs that are read. */
  readonly privateSources: readonly string[];
  /** Whether calls are limited by rate. */
  readonly rateLimits: boolean;
}

/** With nothing set. */
export const plainDeployment: Deployment = {
  region: 'western',
  privateTargets: [],
  privateSources: [],
  rateLimits: true,
};

/** Where URLs that are called may lead. */
export function targetsInWords({ privateTargets }: Deployment): string {
  const rule =
    'A URL that is called must be https, without user information, and lead to public addresses; private, loopback and other special ones are refused';
  if (privateTargets.length === 0) return `${rule}.`;
  const networks = privateTargets.join(', ');
  return `${rule}, except those in ${networks}, which the operator of this service allows: there http, any port and any host name will do.`;
}

/** Where URLs that are read may lead beside public addresses; null: nowhere. */
export function sourcesInWords({ privateSources }: Deployment): string | null {
  if (privateSources.length === 0) return null;
  const networks = privateSources.join(', ');
  return `A URL that is read (a page, a picture, a file) must lead to public addresses, or to ${networks}, which the operator of this service allows: there http, any port but those of this service, and any host name will do.`;
}
