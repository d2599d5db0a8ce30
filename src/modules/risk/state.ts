// What the operator sets for risk, and what the module keeps in one process.
import { existsSync } from 'node:fs';
import { ConfigError, type Variables } from '../../config/variables.ts';
import type { Core } from '../../core/context.ts';
import { ScoreEffect } from './score/effect.ts';
import { KeyHashes } from './signals/keys.ts';
import { MailExchangers } from './signals/mail-exchangers.ts';
import { Networks } from './signals/networks.ts';

/** `databases`: paths of databases in MaxMind's format. */
export type RiskSettings = ReturnType<typeof riskSettings>;
export type RiskState = ReturnType<typeof startRisk>;

export function riskSettings(variables: Variables) {
  const paths = (variables.text('RISK_MMDB') ?? '').split(',').map((path) => path.trim());
  const databases = paths.filter((path) => path !== '');
  const missing = databases.find((path) => !existsSync(path));
  if (missing === undefined) return { databases };
  throw new ConfigError(`RISK_MMDB must be paths of .mmdb files, separated by commas; there is no ${missing}`);
}

export function startRisk(core: Core, { databases }: RiskSettings) {
  return {
    ...{ core, hashes: new KeyHashes(core.secrets), scoring: new ScoreEffect(core.secrets) },
    mailExchangers: new MailExchangers(core.nameServers),
    networks: new Networks(databases, core.log),
  };
}
