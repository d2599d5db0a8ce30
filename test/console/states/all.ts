// All states of all pages.
import {
  answeredStates,
  emptyStates,
  filledAccount,
  filledStates,
  missingStates,
  moneyStates,
  otherViews,
} from './account.ts';
import { approvalStates } from './approvals.ts';
import { deviceStates, operatorStates, payStates, signInStates } from './elsewhere.ts';
import type { Scene, State } from './state.ts';
import { vaultStates } from './vault.ts';

export async function allStates(scene: Scene): Promise<readonly State[]> {
  const filled = await filledAccount(scene);
  const groups = await Promise.all([
    emptyStates(scene),
    moneyStates(scene),
    signInStates(scene, filled),
    deviceStates(scene, filled),
    payStates(scene, filled),
    operatorStates(scene),
    approvalStates(scene),
    vaultStates(scene),
    missingStates(scene, filled),
    filledStates(scene, filled),
  ]);
  return [...groups.flat(), ...otherViews(filled), ...answeredStates(filled)];
}
