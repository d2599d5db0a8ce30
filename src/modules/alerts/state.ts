// What the alerts module keeps in a process: the loops of looks and of notices.
import { dueWork } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { queueNotices } from '../../kit/queue-notices.ts';
import type { Services } from '../../kit/services.ts';
import { TimeSlices } from '../../lib/time-slices.ts';
import { LOOK_RENEW_MS, LOOKS, LOOKS_AT_ONCE, NOTICES } from './limits.ts';
import { AccountTurns } from './looks/account-turns.ts';
import { LookEnds } from './looks/end.ts';
import { type Looking, lookAt } from './looks/look.ts';
import { Spreads } from './looks/spread.ts';
import { type ClaimedLook, claimLooks, renewLook, setLookDue } from './looks/store.ts';
import { postLoop } from './notices/posts.ts';

export interface AlertsState {
  readonly core: Services;
  readonly loops: readonly JobLoop[];
  /** Of long exports. */
  readonly slices: TimeSlices;
}

const queueLoop = queueNotices({ table: 'alerts.notice', work: NOTICES });

export function startAlerts(core: Services): AlertsState {
  const looking: Looking = { core, turns: new AccountTurns(), ends: new LookEnds(core), spreads: new Spreads() };
  const loops = [lookLoop(looking), postLoop(core), queueLoop(core)];
  return { core, loops, slices: new TimeSlices() };
}

function lookLoop(looking: Looking): JobLoop {
  const { core } = looking;
  return dueWork<ClaimedLook>(core, {
    name: LOOKS,
    places: LOOKS_AT_ONCE,
    claim: claimLooks,
    run: (look, signal, lost) => lookAt(looking, look, signal, lost),
    renewal: { everyMs: LOOK_RENEW_MS, renew: (look) => renewLook(core.db, look) },
    putBack: setLookDue,
  });
}
