// Signing key of an account's mail (DKIM, RFC 6376): RSA-2048, made on first use, one for all of the account's domains. Its selector belongs to
// the account, so two accounts can prove one domain. The private key is encrypted at rest, and stays as long as the account.
import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { lruOf } from '../../../lib/lru.ts';

export interface SigningKey {
  /** Names the record: `{selector}._domainkey.{domain}`. */
  readonly selector: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** SubjectPublicKeyInfo in base64, as `p=` of the record has it. */
  readonly publicKey: string;
}

interface KeyRow {
  readonly selector: string;
  readonly private_key: Buffer;
  readonly public_key: string;
}

const MODULUS_BITS = 2048;
const SELECTOR_BYTES = 8;
const SECRET_LABEL = 'email-signing-key';
/** Accounts whose keys a process remembers, 3 KB each. */
const CACHED_MAX = 2_000;

const find = statement(
  'email_find_signing_key',
  'SELECT selector, private_key, public_key FROM email.signing_key WHERE account_id = $1',
);
// Anchored: a deleted account gets none.
const insert = statement(
  'email_insert_signing_key',
  `INSERT INTO email.signing_key (account_id, selector, private_key, public_key, created_at)
   SELECT w.account_id, $2, $3, $4, core.clock_now() FROM core.wallet w WHERE w.account_id = $1
       ON CONFLICT (account_id) DO NOTHING`,
);

const makePair = promisify(generateKeyPair);

export class SigningKeys {
  readonly #core: Pick<Services, 'db' | 'secrets'>;
  readonly #known = lruOf<Promise<SigningKey>>(CACHED_MAX);

  constructor(core: Pick<Services, 'db' | 'secrets'>) {
    this.#core = core;
  }

  /** The account's key; makes it on first use, which takes some 100 ms on a thread. */
  of(accountId: string): Promise<SigningKey> {
    const known = this.#known.get(accountId);
    if (known !== undefined) return known;
    const key = this.#load(accountId);
    this.#known.set(accountId, key);
    key.catch(() => {
      if (this.#known.peek(accountId) === key) this.#known.delete(accountId);
    });
    return key;
  }

  async #load(accountId: string): Promise<SigningKey> {
    const kept = (await this.#find(accountId)) ?? (await this.#make(accountId));
    const privateKey = this.#core.secrets.decrypt(SECRET_LABEL, accountId, kept.private_key);
    return { selector: kept.selector, privateKey, publicKey: kept.public_key };
  }

  async #find(accountId: string): Promise<KeyRow | undefined> {
    return (await this.#core.db.query<KeyRow>(find, [accountId])).rows[0];
  }

  /** Two processes may both make one: the first that is kept counts. */
  async #make(accountId: string): Promise<KeyRow> {
    const { publicKey, privateKey } = await makePair('rsa', {
      modulusLength: MODULUS_BITS,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const selector = `qm${randomBytes(SELECTOR_BYTES).toString('hex')}`;
    const sealed = this.#core.secrets.encrypt(SECRET_LABEL, accountId, privateKey);
    await this.#core.db.query(insert, [accountId, selector, sealed, publicKey.toString('base64')]);
    const kept = await this.#find(accountId);
    if (kept === undefined) throw new Error(`no signing key for account ${accountId}: it is gone`);
    return kept;
  }
}
