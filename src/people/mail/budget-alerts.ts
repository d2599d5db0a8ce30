// Mail about spending that crossed the budget's alert threshold: one for each alert event, so one per budget window.
import type { Transaction } from '../../db/database.ts';
import { mailOwners } from '../mail-owners.ts';

interface Alert {
  readonly reason?: string;
  readonly object: {
    readonly period?: string;
    readonly used_usd?: number;
    readonly held_usd?: number;
    readonly alert_threshold_usd?: number;
    readonly window_end?: string;
  };
}

/** `events`: of the account, that are being numbered. */
export async function mailBudgetAlerts(
  tx: Transaction,
  accountId: string,
  events: readonly { readonly type: string; readonly data: string }[],
  nowMs: number,
): Promise<void> {
  for (const { type, data } of events) {
    if (type !== 'wallet.low_balance') continue;
    const { reason, object } = JSON.parse(data) as Alert;
    if (reason === 'budget_alert') await mailOwners(tx, accountId, wordsOf(accountId, object), nowMs);
  }
}

function wordsOf(accountId: string, { period, used_usd, held_usd, alert_threshold_usd, window_end }: Alert['object']) {
  return {
    subject: `Spending reached ${alert_threshold_usd} USD`,
    paragraphs: [
      `Account ${accountId} has spent ${used_usd} USD of its ${period} budget, and holds ${held_usd} USD for running work. You asked to be told at ${alert_threshold_usd} USD.`,
      `The window ends at ${window_end}. There is no further mail about it.`,
      'account.usage shows what was spent on; account.budget.set changes the budget.',
    ],
  };
}
