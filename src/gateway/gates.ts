// What must be so of an account before some of its calls are looked at: asked after scope and rates, before the input (contract, commerce).
import { findAccount } from '../core/accounts/accounts.ts';
import { type Gate, gates as order } from '../manifest/capability.ts';
import { type Problem, problem } from '../problems/problem.ts';
import type { Call } from './call.ts';

/** Throws EMAIL_BINDING_REQUIRED or KYC_REQUIRED for the first gate, in the order of `gates`, that is closed. */
export async function passGates(call: Call): Promise<void> {
  const { gates = [] } = call.endpoint.capability;
  if (gates.length === 0) return;
  const account = await findAccount(call.core.db, call.accountId);
  const closed: Readonly<Record<Gate, Problem | null>> = {
    email: account?.emailBound === true ? null : problem('EMAIL_BINDING_REQUIRED'),
    kyc: account?.kycStatus === 'none' || account?.kycStatus === 'verified' ? null : problem('KYC_REQUIRED'),
  };
  for (const gate of order) {
    const refusal = gates.includes(gate) ? closed[gate] : null;
    if (refusal !== null) throw refusal;
  }
}
