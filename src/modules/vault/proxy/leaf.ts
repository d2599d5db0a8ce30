// Certificates of hosts for which the proxy ends TLS: of a day, with one key for all that lives as long as the process.
import { generateKeyPair } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { promisify } from 'node:util';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { lruOf } from '../../../lib/lru.ts';
import { CertificateAuthority } from './ca.ts';

const HOUR_MS = 3_600_000;
const VALID_MS = 24 * HOUR_MS;
/** Clocks of clients may be behind. */
const BACKDATED_MS = HOUR_MS;
/** A client that looks at it meets one that lasts at least as long. */
const RENEWED_BEFORE_END_MS = 4 * HOUR_MS;

interface Leaf {
  readonly context: SecureContext;
  readonly untilMs: number;
}

export class Leaves {
  readonly #authority: CertificateAuthority;
  readonly #keys = promisify(generateKeyPair)('ec', { namedCurve: 'prime256v1' });
  readonly #kept;
  readonly #now: () => number;

  /** @param leavesMax kept at once; the others are made again */
  constructor(secrets: Pick<Secrets, 'derive' | 'fingerprint'>, leavesMax: number, now: () => number = Date.now) {
    this.#authority = new CertificateAuthority(secrets);
    this.#kept = lruOf<Leaf>(leavesMax);
    this.#now = now;
  }

  /** @param host a name in lower case, or an address without brackets */
  async leafFor(host: string): Promise<SecureContext> {
    const { publicKey, privateKey } = await this.#keys;
    const nowMs = this.#now();
    const kept = this.#kept.get(host);
    if (kept !== undefined && nowMs < kept.untilMs - RENEWED_BEFORE_END_MS) return kept.context;
    const validity = { from: new Date(nowMs - BACKDATED_MS), until: new Date(nowMs + VALID_MS) };
    const cert = this.#authority.issueLeaf(host, publicKey.export({ type: 'spki', format: 'der' }), validity);
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const context = createSecureContext({ cert, key });
    this.#kept.set(host, { context, untilMs: validity.until.getTime() });
    return context;
  }
}
