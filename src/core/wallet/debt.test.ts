import fc from 'fast-check';
import { expect, test } from 'vitest';
import { payDebt, withDebt } from './debt.ts';
import type { WalletRow } from './state.ts';

const owing = (debt_nanos: bigint, frozen_reason: WalletRow['frozen_reason']) =>
  ({ debt_nanos, frozen_reason }) as WalletRow;
const amount = fc.bigInt({ min: 0n, max: 10n ** 15n });

test('credit pays the debt first and never more than it; what is paid and what is left are what arrived', () => {
  fc.assert(
    fc.property(amount, amount, (debt, arriving) => {
      const { wallet, paidNanos } = payDebt(withDebt(owing(0n, null), debt), arriving);
      expect(wallet.debt_nanos + paidNanos).toBe(debt);
      expect(paidNanos <= arriving && (wallet.debt_nanos === 0n || paidNanos === arriving)).toBe(true);
      expect(wallet.frozen_reason).toBe(wallet.debt_nanos > 0n ? 'debt' : null);
    }),
  );
});

test('a disputed wallet stays frozen by its dispute, with and without a debt', () => {
  expect(withDebt(owing(0n, 'dispute'), 5n)).toMatchObject({ debt_nanos: 5n, frozen_reason: 'dispute' });
  expect(payDebt(owing(5n, 'dispute'), 9n).wallet).toMatchObject({ debt_nanos: 0n, frozen_reason: 'dispute' });
});
