// `qm whoami`: the account of the key, its scopes, and the balance. Fields that the key cannot read are shown with the scope they need.
import { Command } from 'commander';
import { CallFailed, readPath } from '../client/http.ts';
import { type Access, access } from '../client/profile.ts';
import { print, printable, table } from '../output.ts';

interface AccountRecord {
  readonly account_id: string;
  readonly name: string | null;
  readonly tier: string;
}

interface KeyRecord {
  readonly key_id: string;
  readonly name: string | null;
  readonly scopes: readonly string[] | null;
  readonly prefix: string;
  readonly last4: string;
  readonly expires_at: string | null;
}

interface BalanceRecord {
  readonly balance_usd: number;
}

export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('Show the account, key, tier and balance that calls are made with.')
    .option('--json', 'print one JSON object')
    .action(whoami);
}

async function whoami({ json = false }: { json?: boolean }): Promise<void> {
  const to = await access();
  const [account, keys, balance] = await Promise.all([
    visible<AccountRecord>(to, '/v1/account/get'),
    visible<{ readonly items: readonly KeyRecord[] }>(to, '/v1/account/keys/list'),
    visible<BalanceRecord>(to, '/v1/account/balance'),
  ]);
  const key = keys?.items.find(({ prefix, last4 }) => to.key.startsWith(prefix) && to.key.endsWith(last4)) ?? null;
  const answer = {
    url: to.url,
    key_source: to.source,
    account_id: account?.account_id ?? null,
    account_name: account?.name ?? null,
    tier: account?.tier ?? null,
    key_id: key?.key_id ?? null,
    key_name: key?.name ?? null,
    key_hint: hintOf(to.key),
    scopes: key === null ? null : (key.scopes ?? ['*']),
    expires_at: key?.expires_at ?? null,
    balance_usd: balance?.balance_usd ?? null,
  };
  const hidden = 'not visible to this key (needs account:read)';
  const rows = [
    ['address', answer.url],
    ['account', account === null ? hidden : `${account.account_id}${nameText(account.name)}`],
    ['tier', answer.tier ?? hidden],
    ['key', `${answer.key_hint}${nameText(answer.key_name)}, from ${answer.key_source}`],
    ['scopes', answer.scopes === null ? hidden : answer.scopes.join(', ')],
    ['balance', balance === null ? hidden : `${balance.balance_usd} USD`],
  ];
  print({ json: answer, text: table(rows.map((row) => row.map(printable))) }, json);
}

const nameText = (name: string | null) => (name === null ? '' : ` (${name})`);

/** Enough to recognise a key by: its first characters and the last four. */
function hintOf(key: string): string {
  return key.length < 24 ? '…' : `${key.slice(0, 12)}…${key.slice(-4)}`;
}

/** Null when the key may not see it. */
async function visible<T>(to: Access, path: string): Promise<T | null> {
  try {
    return JSON.parse((await readPath(to, path)).data) as T;
  } catch (error) {
    if (error instanceof CallFailed && error.failure.code === 'INSUFFICIENT_SCOPE') return null;
    throw error;
  }
}
