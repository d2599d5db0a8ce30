// Gates: preconditions of some capabilities, checked after scope and rates and before the input (contract, commerce).
import { type Account, findAccount } from '../core/accounts/accounts.ts';
import { operatorAccount } from '../core/accounts/operator.ts';
import { clockNow } from '../core/database-clock.ts';
import { keyOf } from '../core/keys/api-key.ts';
import { type Gate, gates as order } from '../kit/capability.ts';
import { isRecent } from '../people/sessions/sessions.ts';
import { problem } from '../problems/problem.ts';
import type { Call } from './call.ts';

/** Throws INSUFFICIENT_SCOPE, REAUTHENTICATION_REQUIRED, EMAIL_BINDING_REQUIRED or KYC_REQUIRED for the first gate, in the order of `gates`, that is closed. */
export async function passGates(call: Call): Promise<void> {
  const { gates = [] } = call.endpoint.capability;
  for (const gate of order) if (gates.includes(gate)) await checks[gate](call);
}

const checks: Readonly<Record<Gate, (call: Call) => Promise<void>>> = {
  // Scopes of the operator's module are only in its keys and sessions; a key that came into another account by absorption has them still.
  operator: async ({ accountId, capability, core }) => {
    if ((await operatorAccount(core.db)) !== accountId)
      throw problem('INSUFFICIENT_SCOPE', { message: `Only the operator of this service may call ${capability}.` });
  },
  person: async ({ principal, capability }) => {
    if (keyOf(principal) !== null)
      throw problem('INSUFFICIENT_SCOPE', {
        detail: 'needs_person',
        message: `Only a person who has signed in may call ${capability}, never an API key.`,
      });
  },
  recent_sign_in: async ({ principal, core }) => {
    // Nobody signs in with a key.
    const { signedInAtMs } = principal;
    if (signedInAtMs === null) return;
    if (!isRecent({ signedInAtMs, nowMs: await clockNow(core.db) })) throw problem('REAUTHENTICATION_REQUIRED');
  },
  email: async (call) => {
    if ((await accountOf(call)).emailBound !== true) throw problem('EMAIL_BINDING_REQUIRED');
  },
  kyc: async (call) => {
    const { kycStatus } = await accountOf(call);
    if (kycStatus !== 'none' && kycStatus !== 'verified') throw problem('KYC_REQUIRED');
  },
};

async function accountOf({ core, accountId }: Call): Promise<Account> {
  const account = await findAccount(core.db, accountId);
  if (account === null) throw problem('INVALID_API_KEY');
  return account;
}
