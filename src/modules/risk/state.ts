// What the operator sets for risk, and what the module keeps in one process.
import { existsSync } from 'node:fs';
import { ConfigError, type Variables } from '../../config/variables.ts';
import type { Core } from '../../core/context.ts';
import { ScoreEffect } from './score/effect.ts';
import { KeyHashes } from './signals/keys.ts';
import { MailExchangers } from './signals/mail-exchangers.ts';
import { Networks } from './signals/networks.ts';

export interface RiskSettings {
  /** Paths of databases in MaxMind's format. */
  readonly databases: readonly string[];
}

export function riskSettings(variables: Variables): RiskSettings {
  const databases = (variables.text('RISK_MMDB') ?? '').split(',').map((path) => path.trim());
  const missing = databases.find((path) => path !== '' && !existsSync(path));
  if (missing !== undefined) {
    throw new ConfigError(`RISK_MMDB must be paths of .mmdb files, separated by commas; there is no ${missing}`);
  }
  return { databases: databases.filter((path) => path !== '') };
}

export type RiskState = ReturnType<typeof startRisk>;

export function startRisk(core: Core, { databases }: RiskSettings) {
  return {
    core,
    hashes: new KeyHashes(core.secrets),
    mailExchangers: new MailExchangers(core.nameServers),
    networks: new Networks(databases, core.log),
    scoring: new ScoreEffect(core.secrets),
  };
}

export async function closeRisk({ mailExchangers }: RiskState): Promise<void> {
  mailExchangers.close();
}
