// Operator settings and in-process state of the risk module.
import type { Variables } from '../../config/variables.ts';
import { StartupError } from '../../db/errors.ts';
import type { Services } from '../../kit/services.ts';
import { ScoreEffect } from './score/effect.ts';
import { KeyHashes } from './signals/keys.ts';
import { MailExchangers } from './signals/mail-exchangers.ts';
import { Networks } from './signals/networks.ts';

/** `databases`: paths of databases in MaxMind's format. */
export type RiskSettings = ReturnType<typeof riskSettings>;
export type RiskState = Awaited<ReturnType<typeof startRisk>>;

export function riskSettings(variables: Variables) {
  const paths = (variables.text('RISK_MMDB') ?? '').split(',').map((path) => path.trim());
  return { databases: paths.filter((path) => path !== '') };
}

export async function startRisk(core: Services, { databases }: RiskSettings) {
  const networks = new Networks(databases, core.log);
  await networks.read().catch((cause: Error) => {
    throw new StartupError(`RISK_MMDB must be paths of .mmdb files, separated by commas: ${cause.message}`, { cause });
  });
  return {
    core,
    networks,
    hashes: new KeyHashes(core.secrets),
    scoring: new ScoreEffect(core.secrets),
    mailExchangers: new MailExchangers(core.nameServers?.map(({ text }) => text) ?? null),
  };
}
