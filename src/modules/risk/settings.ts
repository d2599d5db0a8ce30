// What the operator sets for risk.
import { existsSync } from 'node:fs';
import { ConfigError, type Variables } from '../../config/variables.ts';

export interface RiskSettings {
  /** Paths of databases in MaxMind's format. */
  readonly databases: readonly string[];
}

export function riskSettings(variables: Variables): RiskSettings {
  const databases = (variables.text('RISK_MMDB') ?? '')
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '');
  const missing = databases.find((path) => !existsSync(path));
  if (missing !== undefined) {
    throw new ConfigError(`RISK_MMDB must be paths of .mmdb files, separated by commas; there is no ${missing}`);
  }
  return { databases };
}
