// Module account: API keys, wallet, budget, usage, ledger, events, tier.
import { defineModule } from '../../manifest/module.ts';
import { balance } from './capabilities/balance.ts';
import { budgetGet } from './capabilities/budget-get.ts';
import { budgetSet } from './capabilities/budget-set.ts';
import { eventsList } from './capabilities/events-list.ts';
import { keysCreate } from './capabilities/keys-create.ts';
import { keysList } from './capabilities/keys-list.ts';
import { keysRevoke } from './capabilities/keys-revoke.ts';
import { keysRotate } from './capabilities/keys-rotate.ts';
import { keysSuspectedCompromise } from './capabilities/keys-suspected-compromise.ts';
import { keysUpdate } from './capabilities/keys-update.ts';
import { ledgerList } from './capabilities/ledger-list.ts';
import { tier } from './capabilities/tier.ts';
import { usage } from './capabilities/usage.ts';
import { usageTimeseries } from './capabilities/usage-timeseries.ts';
import type { AccountState } from './state.ts';

export const account = defineModule<AccountState>({
  name: 'account',
  summary: 'API keys, wallet and budget, usage, journal, events and tier of the account.',
  status: 'ga',
  capabilities: [
    balance,
    budgetGet,
    budgetSet,
    keysCreate,
    keysList,
    keysRevoke,
    keysRotate,
    keysSuspectedCompromise,
    keysUpdate,
    tier,
    usage,
    usageTimeseries,
    ledgerList,
    eventsList,
  ],
  start: () => null,
});
