// The 402 of a call that a key's spend cap, the budget or the wallet does not cover. It tells the amount needed, the amount left, and the
// remedy. Amounts left in wallet and budget are shown only to keys whose scopes allow reading them.
import { usdText } from '../../../lib/money.ts';
import { iso } from '../../../lib/time.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import { scopesAllow } from '../../callers/scopes.ts';
import type { Refusal } from './admit.ts';

interface Kind {
  readonly name: string;
  /** The capability that shows what is left; null: the key's own. */
  readonly shownBy: string | null;
  readonly liftedBy: string;
  readonly advice: string;
}

const budget = { shownBy: 'account.budget.get', liftedBy: 'account.budget.set', advice: 'Raise it' };
const kinds: Readonly<Record<Refusal['reason'], Kind>> = {
  key_cap: { name: 'spend cap of this key', shownBy: null, liftedBy: 'account.keys.update', advice: 'Raise it' },
  budget_daily: { name: 'daily budget of the account', ...budget },
  budget_monthly: { name: 'monthly budget of the account', ...budget },
  frozen: { name: 'account', shownBy: 'account.balance', liftedBy: 'account.topup', advice: 'Settle what is owed' },
  balance: { name: 'wallet', shownBy: 'account.balance', liftedBy: 'account.topup', advice: 'Add credit' },
};

/** `scopes` of the calling key. */
export function insufficientCredit(
  refusal: Refusal,
  neededNanos: bigint,
  scopes: readonly string[] | null,
  nowMs: number,
): Problem {
  const { name, shownBy, liftedBy, advice } = kinds[refusal.reason];
  const isShown = shownBy === null || scopesAllow(scopes, shownBy, 'read');
  const { endsAtMs } = refusal;
  const cap = refusal.cap === null ? '' : ` of ${usdText(refusal.cap)} USD`;
  const has = isShown ? `${cap} has ${usdText(refusal.left)} USD left` : ' has less left';
  const window = endsAtMs === null ? '' : ` until ${iso(endsAtMs)}`;
  const frozen =
    'Billable calls are refused while a payment is disputed or credit was taken back beyond the balance; account.balance says which. ' +
    'The operator settles a dispute; any credit, as by account.topup, pays a debt first.';
  const message = `The call needs ${usdText(neededNanos)} USD; the ${name}${has}${window}. ${advice} with ${liftedBy}.`;
  return problem('INSUFFICIENT_CREDIT', {
    message: refusal.reason === 'frozen' ? frozen : message,
    detail: refusal.reason,
    shortfall: {
      neededNanos,
      leftNanos: isShown ? refusal.left : null,
      capNanos: isShown ? refusal.cap : null,
      windowEndMs: endsAtMs,
      windowLeftMs: endsAtMs === null ? null : Math.max(0, endsAtMs - nowMs),
      liftedBy,
      roomNanos: refusal.left,
    },
  });
}
