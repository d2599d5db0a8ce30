// What the vault keeps in a process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { KnownForms } from './answers/known-forms.ts';
import { Endings } from './calls/endings.ts';
import { lostCallsLoop } from './calls/lost.ts';
import { noticeLoop } from './oauth/broken.ts';
import { Tokens } from './oauth/tokens.ts';
import type { ProxySettings } from './proxy/settings.ts';

export interface VaultState {
  readonly core: Services;
  readonly proxy: ProxySettings;
  readonly tokens: Tokens;
  readonly forms: KnownForms;
  readonly endings: Endings;
  readonly loops: readonly JobLoop[];
}

export function startVault(core: Services, proxy: ProxySettings): VaultState {
  return {
    core,
    proxy,
    tokens: new Tokens(core),
    forms: new KnownForms(),
    endings: new Endings(core),
    loops: [lostCallsLoop(core), noticeLoop(core)],
  };
}
