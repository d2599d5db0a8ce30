// The operator's settings of the proxy.
import type { Variables } from '../../../config/variables.ts';

export interface ProxySettings {
  /** Null: it does not listen. */
  readonly port: number | null;
  /** What becomes of a CONNECT to a host of no connection. */
  readonly others: 'refuse' | 'tunnel';
}

export function proxySettings(variables: Variables): ProxySettings {
  const port = variables.integer('VAULT_PORT', 0, { min: 1, max: 65_535 });
  return {
    port: port === 0 ? null : port,
    others: variables.oneOf('VAULT_OTHERS', ['refuse', 'tunnel'], 'refuse'),
  };
}
