import { Command, Option } from 'commander';
import type { CapPeriod, CapSetting } from '../../core/callers/key-cap.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import { knownScopesOf, scopesWithin, validateScopes } from '../../core/callers/scopes.ts';
import { awsCredentials } from '../../core/credentials/sigv4.ts';
import { createKey, revokeKey } from '../../core/keys/changes.ts';
import { keyRecord } from '../../core/keys/key-record.ts';
import { KeyRing } from '../../core/keys/ring.ts';
import { findKey, listKeys, type StoredKey } from '../../core/keys/store.ts';
import type { Transaction } from '../../db/database.ts';
import { NANOS_PER_USD } from '../../lib/money.ts';
import { moduleTags } from '../../manifest/version.ts';
import { scopeList, usdAmountOrNone } from '../fields.ts';
import { CommandError, print, table, UsageError } from '../output.ts';
import { requireAccount } from './accounts.ts';
import { deploymentSecrets } from './deployment.ts';
import { keyDropInForce, withSession } from './session.ts';

export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, list and revoke the API keys of an account.');
  keys
    .command('create')
    .description('Create an API key and print its secret, this once.')
    .requiredOption('--account <id>', 'id of the account')
    .option('--name <name>', 'name for people, at most 128 characters')
    .option(
      '--scopes <list>',
      'what the key may do, separated by commas, such as queue,vector:read (default: everything)',
      scopeList,
    )
    .option(
      '--spend-cap-usd <amount>',
      'most that the key may spend, such as 5 or 0.5, or none (default: none; 1 a day for a key that may stand where anybody reads it, as one in a DSN)',
      usdAmountOrNone,
    )
    .addOption(
      new Option('--spend-cap-period <period>', 'what the cap is for (default: total)').choices([
        'total',
        'daily',
        'monthly',
      ]),
    )
    .option('--json', 'print one JSON object')
    .action(create);
  keys
    .command('list')
    .description('List the API keys of an account, newest first.')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print one JSON object')
    .action(list);
  keys
    .command('revoke')
    .description('Revoke an API key for good. When the command ends, no call with it succeeds any more.')
    .argument('<key>', 'id of the key')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print one JSON object')
    .action(revoke);
  keys
    .command('aws')
    .description(
      'Print what clients of SQS sign with for an API key: as secret as the key, and gone with its current secret.',
    )
    .argument('<key>', 'id of the key')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print one JSON object')
    .action(aws);
  return keys;
}

interface CreateOptions {
  readonly account: string;
  readonly name?: string;
  readonly scopes?: string[];
  readonly spendCapUsd?: bigint | 'none';
  readonly spendCapPeriod?: CapPeriod;
  readonly json?: boolean;
}

async function create({ account, scopes: wanted = [], json = false, ...options }: CreateOptions): Promise<void> {
  const name = options.name ?? null;
  if (name !== null && [...name].length > 128) throw new CommandError('the name is longer than 128 characters');
  const { known, publishable } = await readScopes();
  const scopes = validateScopes(known, wanted);
  const cap = capOf(options, scopesWithin(known, scopes, publishable));
  const { key, secret } = await withSession(async (session) => {
    const secrets = await deploymentSecrets(session);
    return session.db.transaction(async (tx) =>
      createKey(tx, secrets, account, { name, scopes, expiresAtMs: null, cap }, await lock(tx, account)),
    );
  });
  const text = `created ${key.keyId}; its secret, shown this once:\n${secret}`;
  print({ json: { ...record(account, key), key_secret: secret, secret }, text }, json);
}

/** Who reads a key in a page or a program can use it: what it can spend has a bound unless none is asked for. */
function capOf({ spendCapUsd, spendCapPeriod }: Partial<CreateOptions>, isPublishable: boolean): CapSetting | null {
  const inForce = spendCapUsd ?? (isPublishable && spendCapPeriod === undefined ? 'default' : 'none');
  if (inForce === 'default') return { nanos: NANOS_PER_USD, period: 'daily' };
  if (inForce !== 'none') return { nanos: inForce, period: spendCapPeriod ?? 'total' };
  if (spendCapPeriod !== undefined) throw new UsageError('--spend-cap-period needs an amount: --spend-cap-usd');
  return null;
}

async function list({ account, json = false }: { account: string; json?: boolean }): Promise<void> {
  const keys = await withSession(async ({ db }) => {
    await requireAccount(db, account);
    return listKeys(db, account);
  });
  const items = keys.map((key) => record(account, key));
  const lines = items.map((key) => [
    key.key_id,
    key.status,
    `${key.prefix}…${key.last4}`,
    key.scopes?.join(',') ?? '*',
    key.name ?? '',
  ]);
  print({ json: { items }, text: table([['KEY', 'STATUS', 'SECRET', 'SCOPES', 'NAME'], ...lines]) }, json);
}

async function revoke(keyId: string, { account, json = false }: { account: string; json?: boolean }): Promise<void> {
  const key = await withSession(async ({ db }) => {
    const revoked = await db.transaction(async (tx) =>
      revokeKey(tx, account, keyId, 'requested', await lock(tx, account)),
    );
    await keyDropInForce(db);
    return revoked;
  });
  print({ json: record(account, key), text: `${keyId} is revoked` }, json);
}

async function aws(keyId: string, { account, json = false }: { account: string; json?: boolean }): Promise<void> {
  const credentials = await withSession(async (session) => {
    const { db, config } = session;
    const key = await findKey(db, account, keyId);
    if (key === null) throw new CommandError(`account ${account} has no key ${keyId}`);
    if (key.status === 'revoked' || key.status === 'expired') throw new CommandError(`${keyId} is ${key.status}`);
    const secrets = await deploymentSecrets(session);
    const [current] = await new KeyRing({ db, secrets }).secretsOf(keyId);
    if (current === undefined) throw new CommandError(`${keyId} has no secret`);
    return awsCredentials({ secrets, baseUrl: config.baseUrl, region: config.region }, keyId, current);
  });
  // Secrets are never cut.
  const rows = Object.entries(credentials).flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  const text = table(rows, Number.POSITIVE_INFINITY);
  print({ json: { account_id: account, ...credentials }, text }, json);
}

async function lock(tx: Transaction, accountId: string): Promise<number> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) throw new CommandError(`there is no account ${accountId}`);
  return nowMs;
}

async function readScopes() {
  const [{ modules }, { buildManifest }] = await Promise.all([
    import('../../modules/index.ts'),
    import('../../manifest/manifest.ts'),
  ]);
  const { capabilities } = buildManifest(modules, { thoroughness: 'quick' });
  const publishable = capabilities.filter((capability) => capability.publishable === true).map(({ id }) => id);
  return { known: knownScopesOf(capabilities, moduleTags), publishable };
}

function record(accountId: string, key: StoredKey) {
  return { account_id: accountId, ...keyRecord(key) };
}
