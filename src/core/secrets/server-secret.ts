// The server secret: SECRETS_KEY, else DATA_DIR/secrets.key, which is created once. The database keeps its fingerprint. A process with another
// secret does not start: it could not read the cursors, receipts and stored secrets of the others (contract §0).
import { randomBytes } from 'node:crypto';
import { constants, copyFile, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queryable } from '../../db/database.ts';
import { StartupError } from '../../db/errors.ts';
import { statement } from '../../db/statement.ts';
import type { Secrets } from './secrets.ts';

const SECRET_BYTES = 32;
const CHARACTERS_MIN = 16;
const SETTING = 'secret_fingerprint';

interface SecretSource {
  readonly secretsKey?: string;
  readonly dataDir: string;
}

const remember = statement(
  'secret_remember',
  'INSERT INTO core.setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
);
const recall = statement('secret_recall', 'SELECT value FROM core.setting WHERE name = $1');

/** A secret as SECRETS_KEY takes it: 256 random bits. */
export function newServerSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The secret; makes the file when there is none. Of several processes that start at once all get the same. Throws StartupError. */
export async function loadServerSecret(source: SecretSource): Promise<string> {
  const known = await readServerSecret(source);
  if (known !== null) return known;
  try {
    await createFile(source.dataDir);
  } catch (error) {
    throw new StartupError(`cannot create ${fileOf(source.dataDir)}: ${(error as Error).message}`, { cause: error });
  }
  return (await readServerSecret(source)) as string;
}

/** The secret; null when there is none yet. Throws StartupError when the file cannot be read or is not whole. */
export async function readServerSecret({ secretsKey, dataDir }: SecretSource): Promise<string | null> {
  if (secretsKey !== undefined) return secretsKey;
  let text: string;
  try {
    text = (await readFile(fileOf(dataDir), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StartupError(`cannot read ${fileOf(dataDir)}: ${(error as Error).message}`, { cause: error });
  }
  if (text.length < CHARACTERS_MIN)
    throw new StartupError(`${fileOf(dataDir)} holds no secret: restore it, or set SECRETS_KEY`);
  return text;
}

/** Notes the fingerprint of the first secret that the database meets. Throws StartupError for another one. */
export async function rememberServerSecret(db: Queryable, secrets: Secrets): Promise<void> {
  await db.query(remember, [SETTING, secrets.fingerprint]);
  if ((await rememberedFingerprint(db)) === secrets.fingerprint) return;
  throw new StartupError(
    'the server secret is not the one this database was made with: set SECRETS_KEY, or restore secrets.key in DATA_DIR',
  );
}

/** Null when no service has started on this database yet. */
export async function rememberedFingerprint(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ value: string }>(recall, [SETTING]);
  return rows[0]?.value ?? null;
}

// Linked into place when it is whole and on disk: nobody reads half a secret, and the first of several writers wins.
async function createFile(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const unfinished = join(dataDir, `secrets.key.${process.pid}.${randomBytes(4).toString('hex')}`);
  try {
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await file.writeFile(`${newServerSecret()}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await publish(unfinished, fileOf(dataDir));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function publish(unfinished: string, file: string): Promise<void> {
  try {
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A file system without hard links.
    await copyFile(unfinished, file, constants.COPYFILE_EXCL);
  }
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'secrets.key');
}
