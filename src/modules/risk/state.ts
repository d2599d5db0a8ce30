// What the risk module keeps in one process.
import type { Core } from '../../core/context.ts';
import type { LaneEffect } from '../../core/wallet/lane/lane-item.ts';
import { KnownSettings } from './rules/settings.ts';
import { type Known, ScoreEffect, type ScoreInput } from './score/effect.ts';
import { RiskIds } from './score/ids.ts';
import type { RiskSettings } from './settings.ts';
import { KeyHashes } from './signals/keys.ts';
import { MailExchangers } from './signals/mail-exchangers.ts';
import { Networks } from './signals/networks.ts';

export interface RiskState {
  readonly core: Core;
  readonly ids: RiskIds;
  readonly hashes: KeyHashes;
  readonly mailExchangers: MailExchangers;
  readonly networks: Networks;
  readonly scoring: LaneEffect<ScoreInput, Known>;
}

export function startRisk(core: Core, { databases }: RiskSettings): RiskState {
  const ids = new RiskIds(core.secrets);
  return {
    ...{ core, ids, hashes: new KeyHashes(core.secrets) },
    mailExchangers: new MailExchangers(core.nameServers),
    networks: new Networks(databases, core.log),
    scoring: new ScoreEffect(ids, new KnownSettings()),
  };
}

export async function closeRisk({ mailExchangers }: RiskState): Promise<void> {
  mailExchangers.close();
}
