// Debt: the part of a clawback that the wallet could not cover (wallet.debt_nanos). Every credit pays it first. While a debt or a dispute is
// open the wallet is frozen: nothing is charged, but running holds settle.
import type { WalletRow } from './state.ts';

/** Pays what is owed out of an amount that arrives; what is left of it is credit. Pure: the caller writes wallet and entry. */
export function payDebt(wallet: WalletRow, arrivingNanos: bigint): { wallet: WalletRow; paidNanos: bigint } {
  const paidNanos = arrivingNanos < wallet.debt_nanos ? arrivingNanos : wallet.debt_nanos;
  return { wallet: withDebt(wallet, wallet.debt_nanos - paidNanos), paidNanos };
}

/** The wallet with that debt, frozen by it or not any more; an open dispute freezes it all the same. */
export function withDebt(wallet: WalletRow, debtNanos: bigint): WalletRow {
  const reason = debtNanos > 0n ? 'debt' : null;
  return {
    ...wallet,
    debt_nanos: debtNanos,
    frozen_reason: wallet.frozen_reason === 'dispute' ? 'dispute' : reason,
  };
}
