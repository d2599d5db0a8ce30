// Receivers as principals: each acts for its account, with the one scope that its target needs. A receiver is remembered for a second, and looked
// at again in the commit: what was verified by a secret, target or address that has changed meanwhile is not published.
import { LRUCache } from 'lru-cache';
import type { LivePrincipal, Principal, PrincipalKind } from '../../../core/callers/principal.ts';
import type { Tier } from '../../../core/callers/tiers.ts';
import type { Credential } from '../../../core/credentials/credential.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { problem } from '../problems.ts';
import { type Address, readToken } from './address.ts';
import type { Filter } from './filters.ts';
import { CACHE_MS, RECEIVERS_REMEMBERED, RETRY_SOON_MS } from './limits.ts';
import type { Verification } from './schemes.ts';
import { filterOf, type ReceiverRow, verificationOf } from './store.ts';

export interface Receiver extends Principal {
  readonly name: string;
  readonly capability: 'queue.publish' | 'realtime.publish';
  readonly target: string;
  readonly verification: Verification;
  readonly filter: Filter | null;
  readonly disabled: boolean;
  readonly revision: number;
  readonly addressNumber: number;
}

const CAPABILITY = { queue: 'queue.publish', channel: 'realtime.publish' } as const;

interface FoundRow extends ReceiverRow {
  readonly project_id: string;
  readonly tier: Tier;
  readonly suspended: boolean;
}

const find = statement(
  'webhook_find_receiver',
  `SELECT r.receiver_id, r.name, r.scheme, r.secret, r.header, r.encoding, r.target_kind, r.target, r.filter, r.disabled,
          r.address_number, r.revision, a.project_id, a.tier, w.suspended
     FROM core.webhook_receiver r, core.account a, core.wallet w
    WHERE r.account_id = $1 AND r.receiver_id = $2 AND a.account_id = $1 AND w.account_id = $1
      AND (a.purge_at IS NULL OR a.purge_at > core.clock_now())`,
);
const readLive = statement(
  'webhook_read_live_receivers',
  `SELECT r.account_id, r.receiver_id, r.revision, r.disabled
     FROM core.webhook_receiver r
    WHERE r.account_id = ANY($1::text[]) AND r.receiver_id = ANY($2::text[])`,
);

export class ReceiverRing {
  readonly #core: Pick<Services, 'db' | 'secrets'>;
  /** Null: there is none. */
  readonly #known = new LRUCache<string, { readonly receiver: Receiver | null }>({
    max: RECEIVERS_REMEMBERED,
    ttl: CACHE_MS,
    ttlResolution: 0,
  });
  readonly #reading = new Map<string, Promise<Receiver | null>>();
  readonly #kind: PrincipalKind = {
    name: 'receiver',
    again: async (principal) => (await this.#find(principal.accountId, principal.id)) ?? 'unknown',
    readLive: (tx, accounts, of) => liveOf(tx, accounts, of as readonly Receiver[]),
    refusal: () => changedMeanwhile(),
  };

  constructor(core: Pick<Services, 'db' | 'secrets'>) {
    this.#core = core;
  }

  /** What stands in an address. Throws RECEIVER_NOT_FOUND in place of a failed login: there is nothing to be guessed. */
  credential(token: string, isAnew = false): Credential {
    return {
      find: async () => {
        const address = readToken(this.#core, token);
        const receiver = address === null ? null : await this.#at(address, isAnew);
        if (receiver === null) throw problem('RECEIVER_NOT_FOUND');
        return receiver;
      },
    };
  }

  async #at({ accountId, receiverId, addressNumber }: Address, isAnew: boolean): Promise<Receiver | null> {
    if (isAnew) this.#known.delete(receiverId);
    const receiver = await this.#find(accountId, receiverId);
    return receiver?.addressNumber === addressNumber ? receiver : null;
  }

  async #find(accountId: string, receiverId: string): Promise<Receiver | null> {
    const known = this.#known.get(receiverId);
    if (known !== undefined) return known.receiver;
    const running = this.#reading.get(receiverId);
    if (running !== undefined) return running;
    const reading = this.#read(accountId, receiverId).finally(() => this.#reading.delete(receiverId));
    this.#reading.set(receiverId, reading);
    return reading;
  }

  async #read(accountId: string, receiverId: string): Promise<Receiver | null> {
    const start = performance.now();
    const { rows } = await this.#core.db.hot.query<FoundRow>(find, [accountId, receiverId]);
    const receiver = rows[0] === undefined ? null : this.#receiverOf(accountId, rows[0]);
    this.#known.set(receiverId, { receiver }, { start });
    return receiver;
  }

  #receiverOf(accountId: string, row: FoundRow): Receiver {
    const capability = CAPABILITY[row.target_kind];
    return {
      kind: this.#kind,
      id: row.receiver_id,
      accountId,
      projectId: row.project_id,
      scopes: [capability],
      tier: row.tier,
      suspended: row.suspended,
      isCurrent: true,
      hasSpendCap: false,
      rulesVersion: null,
      signedInAtMs: null,
      name: row.name,
      capability,
      target: row.target,
      verification: verificationOf(this.#core, row),
      filter: filterOf(row),
      disabled: row.disabled,
      revision: row.revision,
      addressNumber: row.address_number,
    };
  }
}

/** Code detail of a request whose receiver has changed since it was verified. */
export const CHANGED = 'receiver_changed';

function changedMeanwhile() {
  return problem('SERVICE_UNAVAILABLE', {
    message: 'The receiver was changed while the request arrived. Send it again.',
    detail: CHANGED,
    retryAfterMs: RETRY_SOON_MS,
  });
}

async function liveOf(
  tx: Queryable,
  accounts: Buffer,
  receivers: readonly Receiver[],
): Promise<(LivePrincipal | undefined)[]> {
  const { rows } = await tx.query<{ account_id: string; receiver_id: string; revision: number; disabled: boolean }>(
    readLive,
    [accounts, textArray(receivers.map(({ id }) => id))],
  );
  const byId = new Map(rows.map((row) => [`${row.account_id}\n${row.receiver_id}`, row]));
  return receivers.map(({ id, accountId, scopes, revision }) => {
    const row = byId.get(`${accountId}\n${id}`);
    if (row === undefined) return undefined;
    const ended = row.revision === revision && !row.disabled ? null : 'revoked';
    return { id, scopes, ended, expiresAtMs: null, isCurrent: true, cap: null };
  });
}
