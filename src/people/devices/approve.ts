// Approval of a device by a person. Nobody grants more than they hold, in scopes, lifetime or money (contract §2). The approver is read again
// under the account's lock.

import type { CapSetting } from '../../core/callers/key-cap.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import { type LivePrincipal, type Principal, readLivePrincipals } from '../../core/callers/principal.ts';
import { scopesWithin } from '../../core/callers/scopes.ts';
import type { Core } from '../../core/core.ts';
import { textArray } from '../../db/arrays.ts';
import { iso } from '../../lib/time.ts';
import { mayMakeKeys } from './approver.ts';
import { lockWaiting } from './devices.ts';
import * as store from './store.ts';

export interface Wish {
  readonly scopes: readonly string[];
  /** From now; null: the key never ends. */
  readonly lifetimeMs: number | null;
  readonly cap: CapSetting | null;
}

/** What is wrong with the wish, and in which field; null: with none of them. */
export interface Fault {
  readonly field: 'scopes' | 'lifetime' | 'cap' | null;
  readonly text: string;
}

/** Why the principal approves no device at all; null: it may. */
export function cannotApprove({ scopes, suspended, isCurrent, rulesVersion }: Principal): string | null {
  if (suspended) return 'The account is suspended.';
  // A new key could be one that the rules do not list.
  if (rulesVersion !== null && rulesVersion !== 0n)
    return 'The account has approval rules, so a key connects no device. Sign in as a person.';
  if (!isCurrent) return 'The key that you signed in with was replaced: sign in with its current secret.';
  if (mayMakeKeys(scopes)) return null;
  return 'You may not make keys of this account. Ask one of its owners, or sign in with a key that has the scope account:admin.';
}

/** Answers what is in the way; null: the device gets its key at its next poll. */
export function approveDevice(
  { db, knownScopes }: Pick<Core, 'db' | 'knownScopes'>,
  principal: Principal,
  device: Pick<store.DeviceRow, 'device_hash' | 'scopes'>,
  { scopes, lifetimeMs, cap }: Wish,
): Promise<Fault | null> {
  const { accountId } = principal;
  if (scopes.length === 0) return Promise.resolve({ field: 'scopes', text: 'Allow one thing at least.' });
  if (!scopesWithin(knownScopes, scopes, device.scopes))
    return Promise.resolve({ field: 'scopes', text: 'The device did not ask for all of this.' });
  return db.transaction(async (tx) => {
    // The device before the account, as when the key is fetched: nobody waits in a ring.
    if (!(await lockWaiting(tx, device)))
      return { field: null, text: 'The device waits no more. Have it begin again.' };
    const nowMs = await lockAccount(tx, accountId);
    const caller = (await readLivePrincipals(tx, textArray([accountId]), [principal])).get(principal);
    if (nowMs === null || caller === undefined) return ended;
    const expiresAtMs = lifetimeMs === null ? null : nowMs + lifetimeMs;
    const fault = faultOf(caller, knownScopes, { scopes, expiresAtMs, cap });
    const approval = { accountId, approvedBy: principal.id, scopes, expiresAtMs, cap };
    if (fault === null) await store.markApproved(tx, device.device_hash, approval);
    return fault;
  });
}

const ended: Fault = { field: null, text: 'Your sign-in has ended. Sign in again.' };

function faultOf(
  caller: LivePrincipal,
  knownScopes: Core['knownScopes'],
  wish: { scopes: readonly string[]; expiresAtMs: number | null; cap: CapSetting | null },
): Fault | null {
  if (caller.ended !== null || !caller.isCurrent || !mayMakeKeys(caller.scopes)) return ended;
  if (!scopesWithin(knownScopes, wish.scopes, caller.scopes))
    return { field: 'scopes', text: 'You cannot allow what you may not do yourself.' };
  const { expiresAtMs: endsMs, cap } = caller;
  if (endsMs !== null && (wish.expiresAtMs === null || wish.expiresAtMs > endsMs))
    return { field: 'lifetime', text: `Your own key ends at ${iso(endsMs)}; this one cannot outlive it.` };
  if (cap !== null && wish.cap?.nanos !== 0n)
    return { field: 'cap', text: 'Your own key has a spend cap: it can only give keys that spend nothing. Enter 0.' };
  return null;
}
