// Creates the operator's account on the first start with an empty database: a key with every scope, and the sign-up credit. The secret is
// written to DATA_DIR/operator.key and nowhere else.
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../db/database.ts';
import { StartupError } from '../../db/errors.ts';
import { statement } from '../../db/statement.ts';
import { createAccount, listAccounts } from '../accounts/accounts.ts';
import { lockAccount } from '../callers/lock.ts';
import { createKey } from '../keys/changes.ts';
import type { Secrets } from '../secrets/secrets.ts';

export interface Operator {
  readonly accountId: string;
  readonly keyFile: string;
}

const NAME = 'operator';

// The row is what two processes that start at once queue up for; it stays empty when other accounts were there first.
const claim = statement(
  'operator_claim',
  `INSERT INTO core.setting (name, value) VALUES ('operator_account', $1) ON CONFLICT (name) DO NOTHING`,
);
const record = statement('operator_record', `UPDATE core.setting SET value = $1 WHERE name = 'operator_account'`);

/**
 * Makes the operator's account and key unless the database has accounts. Answers what was made, null when nothing was.
 * Throws StartupError when the key file cannot be written; then nothing was made.
 */
export async function ensureOperator(
  { db, secrets }: { readonly db: Database; readonly secrets: Secrets },
  dataDir: string,
): Promise<Operator | null> {
  const keyFile = join(dataDir, 'operator.key');
  return db.transaction(async (tx) => {
    if ((await tx.query(claim, [''])).count === 0) return null;
    if ((await listAccounts(tx, '', 1)).length > 0) return null;
    const accountId = await createAccount(tx, { name: NAME });
    const nowMs = (await lockAccount(tx, accountId)) as number;
    const { secret } = await createKey(
      tx,
      secrets,
      accountId,
      { name: NAME, scopes: null, expiresAtMs: null, cap: null },
      nowMs,
    );
    await tx.query(record, [accountId]);
    // Before the commit, and last: a start that dies here is repeated by the next one, which writes the file again.
    await writeKeyFile(dataDir, keyFile, secret);
    return { accountId, keyFile };
  });
}

async function writeKeyFile(dataDir: string, keyFile: string, secret: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    await keepEarlier(keyFile);
    const file = await open(keyFile, 'wx', 0o600);
    try {
      await file.writeFile(`${secret}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new StartupError(`cannot write ${keyFile}: ${(error as Error).message}`, { cause: error });
  }
}

/** The key of another database that used this directory must not be lost. */
async function keepEarlier(keyFile: string): Promise<void> {
  try {
    await rename(keyFile, `${keyFile}.earlier`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
