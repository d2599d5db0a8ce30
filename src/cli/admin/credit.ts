import { Command } from 'commander';
import { DAY_MS } from '../../lib/time.ts';
import { giveCredit } from '../../upkeep/operator-acts.ts';
import { usdAmount, wholeNumber } from '../fields.ts';
import { CommandError, print } from '../output.ts';
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
  const answer = await withSession(({ db }) =>
    db.transaction((tx) => giveCredit(tx, account, { kind, amountNanos, expiresInMs, note })),
  );
  if (answer === null) throw new CommandError(`there is no account ${account}`);
  const { amount_usd, balance_usd } = answer;
  print({ json: answer, text: `granted ${amount_usd} USD to ${account}; spendable: ${balance_usd} USD` }, json);
}
