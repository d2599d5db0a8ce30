// The kinds of ledger entries: their descriptions in the API and their texts in the console.
import type { CreditSource } from '../../../core/wallet/ledger/read.ts';
import type { LedgerEntry } from '../../../core/wallet/open-wallet.ts';

export interface EntryInWords {
  readonly capability: string | null;
  readonly source: string | null;
}

interface LedgerKind {
  readonly description: string;
  words(entry: EntryInWords): string;
}

const creditSources: Readonly<Record<CreditSource, string>> = {
  topup: 'Paid by card',
  recharge: 'Auto-recharge by card',
  subscription: 'Credit of the subscription',
  signup: 'Sign-up credit',
  absorption: 'Credit of a merged account',
  restored: 'Credit given back after a refund or dispute',
  operator: 'Credit from the operator',
};

export const ledgerKinds: Readonly<Record<LedgerEntry['kind'] | 'hold', LedgerKind>> = {
  grant: { description: 'credit', words: ({ source }) => creditSources[source as CreditSource] ?? 'Credit' },
  charge: { description: 'calls that were paid for', words: ({ capability }) => capability ?? 'Charge' },
  hold: { description: 'reserved, costs nothing yet', words: ({ capability }) => `Reserved for ${capability}` },
  capture: { description: 'paid from a hold', words: ({ capability }) => `${capability}, paid from the reserve` },
  release: { description: 'a hold that ended unpaid', words: ({ capability }) => `Reserve for ${capability} released` },
  expire: { description: 'credit that expired', words: () => 'Credit expired' },
  reversal: {
    description: 'a charge that was taken back',
    words: ({ capability }) => `Charge for ${capability} reversed`,
  },
  debt: { description: 'paid from new credit', words: () => 'Debt paid from new credit' },
  refund: { description: 'credit taken back, because its payment was refunded', words: () => 'Payment refunded' },
  dispute: { description: 'credit taken back, because its payment was disputed', words: () => 'Payment disputed' },
  restore: { description: 'given back again', words: () => 'Refund or dispute reversed' },
  transfer: { description: 'credit that went to a merged account', words: () => 'Credit moved to a merged account' },
};
