import { Command } from 'commander';
import { lockAccount } from '../core/accounts/accounts.ts';
import { grantCredit } from '../core/wallet/grants.ts';
import { openWallet } from '../core/wallet/open-wallet.ts';
import { spendableOf } from '../core/wallet/state.ts';
import { usd } from '../lib/money.ts';
import { DAY_MS, isoOrNull } from '../lib/time.ts';
import { usdAmount, wholeNumber } from './fields.ts';
import { CommandError, print } from './output.ts';
import { withSession } from './session.ts';

const EXPIRES_DAYS_MAX = 36_500;

export function creditCommand(): Command {
  const credit = new Command('credit').description('Put credit into wallets.');
  credit
    .command('grant')
    .description('Add credit to the wallet of an account.')
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--usd <amount>', 'amount in USD, such as 10 or 0.25', usdAmount)
    .option(
      '--expires-days <days>',
      'the credit expires after so many days (default: never)',
      wholeNumber(EXPIRES_DAYS_MAX),
    )
    .option('--promo', 'promotional credit, spent before paid credit')
    .option('--note <text>', 'kept with the grant')
    .option('--json', 'print one JSON object')
    .action(grant);
  return credit;
}

interface GrantOptions {
  readonly account: string;
  readonly usd: bigint;
  readonly expiresDays?: number;
  readonly promo?: boolean;
  readonly note?: string;
  readonly json?: boolean;
}

async function grant(options: GrantOptions): Promise<void> {
  const { account, usd: amountNanos, expiresDays, promo = false, json = false } = options;
  const note = options.note ?? null;
  const kind = promo ? 'promo' : 'paid';
  const expiresInMs = expiresDays === undefined ? null : expiresDays * DAY_MS;
  const { grantId, opened } = await withSession(({ db }) =>
    db.transaction(async (tx) => {
      if ((await lockAccount(tx, account)) === null) throw new CommandError(`there is no account ${account}`);
      const made = await grantCredit(tx, account, { kind, amountNanos, expiresInMs, note });
      return { grantId: made, opened: await openWallet(tx, account) };
    }),
  );
  const expiresAt = opened?.grants.find((row) => row.grant_id === grantId)?.expires_at ?? null;
  const balanceUsd = usd(spendableOf(opened?.unexpired ?? []));
  const answer = {
    account_id: account,
    grant_id: grantId,
    kind,
    amount_usd: usd(amountNanos),
    expires_at: isoOrNull(expiresAt),
    balance_usd: balanceUsd,
  };
  print({ json: answer, text: `granted ${answer.amount_usd} USD to ${account}; spendable: ${balanceUsd} USD` }, json);
}
