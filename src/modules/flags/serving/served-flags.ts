// In-memory cache of flags by account: loaded whole on first use, kept while used, and dropped when the account's revision has changed. The
// process that makes a change sees it at once. Others see it at their next poll; one statement polls all accounts. While the database is
// unavailable, evaluations go on from memory.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import { AccountPlaces } from '../../../core/account-places.ts';
import { repeat } from '../../../core/background/repeat.ts';
import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import type { Services } from '../../../kit/services.ts';
import { TimeSlices } from '../../../lib/time-slices.ts';
import { accountOf, allFlags, revisionsOf } from '../flags/store.ts';
import { ACCOUNTS_HELD_MAX, HELD_BYTES_MAX, IDLE_MS, LOOK_EVERY_MS } from '../limits.ts';
import type { ServedFlag } from './served-flag.ts';

const LOADS_AT_ONCE = 2;
/** What a flag takes beside its definition, and an account beside its flags. */
const OVERHEAD_BYTES = 512;

export interface AccountFlags {
  readonly revision: bigint;
  readonly byKey: ReadonlyMap<string, ServedFlag>;
  /** In memory, about. */
  readonly bytes: number;
}

/** What the module keeps in one process. */
export interface FlagsState {
  readonly core: Services;
  readonly served: ServedFlags;
  readonly slices: TimeSlices;
  /** Of event streams. */
  readonly tokens: SignedTokens;
}

export function startFlags(core: Services): FlagsState {
  const tokens = new SignedTokens(core.secrets, 'flag-streams');
  return { core, served: new ServedFlags(core), slices: new TimeSlices(), tokens };
}

export class ServedFlags {
  readonly #core: Pick<Services, 'db' | 'log'>;
  readonly #places = new AccountPlaces(LOADS_AT_ONCE, { alone: 'all' });
  /** A read whose account changes meanwhile is answered and not kept. */
  readonly #held = new LRUCache<string, AccountFlags>({
    max: ACCOUNTS_HELD_MAX,
    maxSize: HELD_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
    ttl: IDLE_MS,
    ttlResolution: 1_000,
    updateAgeOnGet: true,
    ignoreFetchAbort: true,
    fetchMethod: (accountId) => this.#places.run(accountId, null, () => this.#read(accountId)),
  });
  /** Of each look at an account that somebody follows, under its id: the revision. */
  readonly #looks = new EventEmitter<Record<string, [revision: bigint]>>().setMaxListeners(0);
  readonly close: () => Promise<void>;

  constructor(core: Pick<Services, 'db' | 'log'>) {
    this.#core = core;
    const failed = 'changes of feature flags could not be read';
    this.close = repeat({ everyMs: LOOK_EVERY_MS, log: core.log, failed, work: () => this.#look() });
  }

  /** Those in memory; undefined: they are to be loaded. */
  flagsInMemory(accountId: string): AccountFlags | undefined {
    return this.#held.get(accountId);
  }

  load(accountId: string): Promise<AccountFlags> {
    return this.#held.forceFetch(accountId);
  }

  /** This process has changed them. */
  noteChange(accountId: string): void {
    this.#held.delete(accountId);
  }

  /** Somebody was told of this revision, maybe by another process: what is older is dropped. */
  async atLeast(accountId: string, revision: bigint): Promise<void> {
    const held = this.#held.peek(accountId);
    if (held === undefined || held.revision >= revision) return;
    const { revision: now } = await accountOf(this.#core.db, { accountId });
    if (now !== held.revision) this.noteChange(accountId);
  }

  /** The account's revision once it is not the one that is known; null: `ended` was aborted before. */
  revisionAfter(accountId: string, known: bigint | null, ended: AbortSignal): Promise<bigint | null> {
    const { promise, resolve } = Promise.withResolvers<bigint | null>();
    const follow = (revision: bigint) => {
      if (revision !== known) resolve(revision);
    };
    this.#looks.on(accountId, follow);
    ended.addEventListener('abort', () => resolve(null), { once: true });
    return promise.finally(() => this.#looks.off(accountId, follow));
  }

  /** The revision comes first: what changes meanwhile is seen as a change later. */
  async #read(accountId: string): Promise<AccountFlags> {
    const { revision, metadata } = await accountOf(this.#core.db, { accountId });
    const { ServedFlag } = await import('./served-flag.ts');
    const byKey = new Map<string, ServedFlag>();
    let bytes = OVERHEAD_BYTES;
    if (revision === 0n) return { revision, byKey, bytes };
    for await (const rows of allFlags(this.#core.db, { accountId }))
      for (const row of rows) {
        byKey.set(row.key, new ServedFlag(row, metadata));
        bytes += row.bytes + OVERHEAD_BYTES;
      }
    return { revision, byKey, bytes };
  }

  async #look(): Promise<void> {
    this.#held.purgeStale();
    const watched = [...new Set([...this.#held.keys(), ...this.#looks.eventNames()])];
    if (watched.length === 0) return;
    const revisions = await revisionsOf(this.#core.db, watched);
    for (const accountId of watched) {
      const revision = revisions.get(accountId) ?? 0n;
      const held = this.#held.peek(accountId);
      if (held !== undefined && held.revision < revision) this.noteChange(accountId);
      this.#looks.emit(accountId, revision);
    }
  }
}
