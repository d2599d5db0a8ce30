import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { lockAccount } from '../core/accounts.ts';
import { createKey, revokeKey } from '../core/keys/changes.ts';
import { scopeBookOf, validateScopes } from '../core/keys/scopes.ts';
import { keyRecord, listKeys, type StoredKey } from '../core/keys/store.ts';
import { ProcessRegistry } from '../core/processes.ts';
import type { Transaction } from '../db/database.ts';
import { moduleTags } from '../manifest/version.ts';
import { requireAccount } from './accounts.ts';
import { deploymentSecrets } from './deployment.ts';
import { scopeList } from './fields.ts';
import { CommandError, print, table } from './output.ts';
import { withSession } from './session.ts';

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
  return keys;
}

interface CreateOptions {
  readonly account: string;
  readonly name?: string;
  readonly scopes?: string[];
  readonly json?: boolean;
}

async function create({ account, scopes: wanted = [], json = false, ...options }: CreateOptions): Promise<void> {
  const name = options.name ?? null;
  if (name !== null && [...name].length > 128) throw new CommandError('the name is longer than 128 characters');
  const scopes = validateScopes(await readScopeBook(), wanted);
  const { key, secret } = await withSession(async (session) => {
    const secrets = await deploymentSecrets(session);
    return session.db.transaction(async (tx) =>
      createKey(tx, secrets, account, { name, scopes, expiresAtMs: null }, await lock(tx, account)),
    );
  });
  const text = `created ${key.keyId}; its secret, shown this once:\n${secret}`;
  print({ json: { ...record(account, key), key_secret: secret }, text }, json);
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
    // This process is not registered, so every running one counts as another.
    await new ProcessRegistry(db, `cli-${randomUUID()}`, 'cli').keyDropSettled();
    return revoked;
  });
  print({ json: record(account, key), text: `${keyId} is revoked` }, json);
}

async function lock(tx: Transaction, accountId: string): Promise<number> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) throw new CommandError(`there is no account ${accountId}`);
  return nowMs;
}

async function readScopeBook() {
  const { modules } = await import('../manifest/index.ts');
  return scopeBookOf(
    modules.flatMap((module) => [...module.capabilities]),
    moduleTags,
  );
}

function record(accountId: string, key: StoredKey) {
  const { id, ...fields } = keyRecord(key);
  return { account_id: accountId, key_id: id, ...fields };
}
