import { Command, Option } from 'commander';
import {
  type Account,
  accountRecord,
  createAccount,
  findAccount,
  type KycStatus,
  listAccounts,
} from '../../core/accounts/accounts.ts';
import { type Tier, tierLimits } from '../../core/callers/tiers.ts';
import { grantCredit } from '../../core/wallet/grants.ts';
import { balanceOf } from '../../core/wallet/ledger/read.ts';
import type { Database } from '../../db/database.ts';
import { usd } from '../../lib/money.ts';
import { restoreAccount } from '../../upkeep/deletion/deletion.ts';
import { changeAccount, vouchFor } from '../../upkeep/operator-acts.ts';
import { emailAddress, usdAmount } from '../fields.ts';
import { CommandError, print, table, UsageError } from '../output.ts';
import { keyDropInForce, withSession } from './session.ts';

const PAGE = 500;
const PAID = { kind: 'paid', expiresInMs: null, note: null } as const;
const TIERS = Object.keys(tierLimits);
const KYC_STATUSES: readonly KycStatus[] = ['none', 'required', 'pending', 'verified', 'rejected'];

export function accountsCommand(): Command {
  const accounts = new Command('accounts').description('Create, list and change accounts.');
  accounts
    .command('create')
    .description('Create an account with its wallet. It gets 2 USD of sign-up credit for 90 days, none with --email.')
    .option('--name <name>', 'name for people')
    .option('--email <address>', 'the account belongs to an e-mail identity: id acct_email_…, no sign-up credit')
    .option(
      '--credit <usd>',
      'paid credit in USD, such as 10 or 0.25, beside the sign-up credit; it never expires',
      usdAmount,
    )
    .option('--json', 'print one JSON object')
    .action(create);
  accounts
    .command('list')
    .description('List all accounts, oldest first.')
    .option('--json', 'print one JSON object')
    .action(list);
  accounts
    .command('update')
    .description(
      'Change the tier of an account, its bound address or verification, suspend it, or lift its suspension. When the command ends, every call of a suspended account is refused.',
    )
    .requiredOption('--account <id>', 'id of the account')
    .addOption(new Option('--tier <tier>', 'new tier').choices(TIERS))
    .addOption(new Option('--suspend', 'refuse every call of the account').conflicts('unsuspend'))
    .option('--unsuspend', 'let its calls through again')
    .option('--email <address>', 'bind an e-mail address: you vouch for it', emailAddress)
    .addOption(new Option('--kyc <status>', 'how far its owner is verified').choices([...KYC_STATUSES]))
    .option('--json', 'print one JSON object')
    .action(update);
  accounts
    .command('restore')
    .description('Restore a deleted account, within seven days. When the command ends, its keys work again.')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print one JSON object')
    .action(restore);
  return accounts;
}

interface CreateOptions {
  readonly name?: string;
  readonly email?: string;
  readonly credit?: bigint;
  readonly json?: boolean;
}

async function create({ name, email, credit, json = false }: CreateOptions): Promise<void> {
  const { account, balanceUsd, signUpUsd } = await withSession(({ db }) =>
    db.transaction(async (tx) => {
      const accountId = await createAccount(tx, { name, email });
      const signUp = await balanceOf(tx, accountId);
      if (email !== undefined) await vouchFor(tx, accountId, email);
      if (credit !== undefined) await grantCredit(tx, accountId, { ...PAID, amountNanos: credit });
      const { balance_usd } = await balanceOf(tx, accountId);
      return { account: await requireAccount(tx, accountId), balanceUsd: balance_usd, signUpUsd: signUp.balance_usd };
    }),
  );
  const paidUsd = usd(credit ?? 0n);
  const answer = {
    ...accountRecord(account),
    balance_usd: balanceUsd,
    signup_credit_usd: signUpUsd,
    paid_credit_usd: paidUsd,
  };
  const parts = [
    ...(paidUsd > 0 ? [`${paidUsd} USD paid credit`] : []),
    ...(signUpUsd > 0 ? [`${signUpUsd} USD sign-up credit`] : []),
  ];
  const made = parts.length === 0 ? '' : `: ${parts.join(' and ')}`;
  print({ json: answer, text: `created ${account.accountId} with ${balanceUsd} USD${made}` }, json);
}

async function list({ json = false }: { json?: boolean }): Promise<void> {
  const accounts = await withSession(({ db }) => readAll(db));
  const rows = accounts.map(accountRecord);
  const lines = rows.map((row) => [
    row.account_id,
    row.tier,
    row.suspended ? 'suspended' : 'active',
    row.created_at,
    row.name ?? '',
  ]);
  print({ json: { items: rows }, text: table([['ACCOUNT', 'TIER', 'STATE', 'CREATED', 'NAME'], ...lines]) }, json);
}

async function restore({ account: accountId, json = false }: { account: string; json?: boolean }): Promise<void> {
  const account = await withSession(async ({ db }) => {
    const restored = await db.transaction((tx) => restoreAccount(tx, accountId));
    if (restored === null) throw new CommandError(`there is no account ${accountId}`);
    await keyDropInForce(db);
    return restored;
  });
  print({ json: accountRecord(account), text: `${accountId}: restored` }, json);
}

interface UpdateOptions {
  readonly account: string;
  readonly email?: string;
  readonly kyc?: KycStatus;
  readonly tier?: Tier;
  readonly suspend?: boolean;
  readonly unsuspend?: boolean;
  readonly json?: boolean;
}

async function update(options: UpdateOptions): Promise<void> {
  const { account: accountId, tier, email, kyc, suspend = false, unsuspend = false, json = false } = options;
  if (tier === undefined && email === undefined && kyc === undefined && !suspend && !unsuspend)
    throw new UsageError('nothing to change: use --tier, --suspend, --unsuspend, --email or --kyc');
  const account = await withSession(async ({ db }) => {
    const suspended = suspend || unsuspend ? suspend : undefined;
    const changes = { tier, email, kycStatus: kyc, suspended };
    const changed = await db.transaction((tx) => changeAccount(tx, accountId, changes));
    if (changed === null) throw noAccount(accountId);
    if (suspended !== undefined) await keyDropInForce(db);
    return changed;
  });
  const state = account.suspended ? 'suspended' : 'active';
  print({ json: accountRecord(account), text: `${accountId}: tier ${account.tier}, ${state}` }, json);
}

/** Throws CommandError when there is no such account. */
export async function requireAccount(db: Pick<Database, 'query'>, accountId: string): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (account === null) throw noAccount(accountId);
  return account;
}

function noAccount(accountId: string): CommandError {
  return new CommandError(`there is no account ${accountId}`);
}

async function readAll(db: Database): Promise<Account[]> {
  const all: Account[] = [];
  for (;;) {
    const page = await listAccounts(db, all.at(-1)?.accountId ?? '', PAGE);
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
