// What the flags module keeps in one process.
import type { Core } from '../../core/context.ts';
import { SignedTokens } from '../../core/secrets/signed-token.ts';
import { TimeSlices } from '../../lib/time-slices.ts';
import { ServedFlags } from './serving/served-flags.ts';

export interface FlagsState {
  readonly core: Core;
  readonly served: ServedFlags;
  readonly slices: TimeSlices;
  /** Of event streams. */
  readonly tokens: SignedTokens;
}

export function startFlags(core: Core): FlagsState {
  const tokens = new SignedTokens(core.secrets, 'flag-streams');
  return { core, served: new ServedFlags(core), slices: new TimeSlices(), tokens };
}
