// TLS without a proxy: TLS_CERT, TLS_KEY and TLS_REDIRECT_PORT.
import { resolve } from 'node:path';
import { ConfigError, type Variables } from './variables.ts';

export interface TlsSettings {
  /** Absolute; PEM. The certificate is followed by those that lead to its authority. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Plain HTTP is sent to the public address from here; null: nothing listens. */
  readonly redirectPort: number | null;
}

/** Null: the service speaks plain HTTP. Throws ConfigError. */
export function tlsSettings(variables: Variables, taken: readonly number[]): TlsSettings | null {
  const [cert, key] = [variables.text('TLS_CERT'), variables.text('TLS_KEY')];
  const port = variables.integer('TLS_REDIRECT_PORT', 0, { min: 1, max: 65_535 });
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError('TLS_CERT and TLS_KEY go together: the files of a certificate and its key');
  if (cert === undefined || key === undefined) {
    if (port === 0) return null;
    throw new ConfigError('TLS_REDIRECT_PORT needs TLS_CERT and TLS_KEY');
  }
  if (port !== 0 && taken.includes(port)) throw new ConfigError('TLS_REDIRECT_PORT must be another port than PORT');
  return { certFile: resolve(cert), keyFile: resolve(key), redirectPort: port === 0 ? null : port };
}
