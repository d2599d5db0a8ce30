// S3_PORT and S3_DOMAIN: addresses that serve S3 at their root, beside /s3 below the public address.
import { ConfigError, type Variables } from './variables.ts';

export interface S3Addresses {
  /** Null: none. */
  readonly port: number | null;
  /** In lower case, without a port; null: none. */
  readonly domain: string | null;
}

const DOMAIN = /^(?=.{1,190}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** Throws ConfigError. */
export function s3Addresses(
  variables: Variables,
  own: { readonly port: number; readonly baseUrl: string },
): S3Addresses {
  const port = variables.integer('S3_PORT', 0, { min: 1, max: 65_535 });
  if (port !== 0 && port === own.port) throw new ConfigError('S3_PORT must be another port than PORT');
  const domain = variables.text('S3_DOMAIN')?.toLowerCase();
  if (domain !== undefined && (!DOMAIN.test(domain) || /^[\d.]+$/.test(domain))) {
    throw new ConfigError('S3_DOMAIN must be a host name with a dot, such as s3.example.com, without scheme or port');
  }
  if (domain !== undefined && isWithin(new URL(own.baseUrl).hostname, domain)) {
    throw new ConfigError('S3_DOMAIN must be another host than that of BASE_URL, and not one that it lies below');
  }
  return { port: port === 0 ? null : port, domain: domain ?? null };
}

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`);
}
