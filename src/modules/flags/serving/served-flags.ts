// The flags that this process evaluates, by account: read whole when somebody asks, kept while they are used, and dropped when the account's
// revision says that they have changed. A change is seen at once by the process that made it, and by others within a look, of which one
// statement serves all accounts. While the database is away, what is in memory is served.
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { AccountTurns } from '../../../core/account-turns.ts';
import type { Core } from '../../../core/context.ts';
import type { FlagRow } from '../flags/definition.ts';
import { accountOf, allFlags, revisionsOf } from '../flags/store.ts';
import { ACCOUNTS_HELD_MAX, HELD_BYTES_MAX, IDLE_MS, LOOK_EVERY_MS } from '../limits.ts';
import type { CompiledFlag } from './compiled-flag.ts';

const LOADS_AT_ONCE = 2;
/** What a flag takes beside its definition, and an account beside its flags. */
const OVERHEAD_BYTES = 512;

export class AccountFlags {
  readonly revision: bigint;
  readonly bytes: number;
  readonly #compile: (row: FlagRow) => CompiledFlag;
  readonly #rows: ReadonlyMap<string, FlagRow>;
  readonly #compiled = new Map<string, CompiledFlag>();
  usedMs = performance.now();

  constructor(revision: bigint, rows: readonly FlagRow[], compile: (row: FlagRow) => CompiledFlag) {
    this.revision = revision;
    this.#compile = compile;
    this.#rows = new Map(rows.map((row) => [row.key, row]));
    this.bytes = rows.reduce((bytes, row) => bytes + row.bytes + OVERHEAD_BYTES, OVERHEAD_BYTES);
  }

  get keys(): string[] {
    return [...this.#rows.keys()];
  }

  /** Null: there is none with this key. */
  get(key: string): CompiledFlag | null {
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const row = this.#rows.get(key);
    if (row === undefined) return null;
    const compiled = this.#compile(row);
    this.#compiled.set(key, compiled);
    return compiled;
  }
}

/** Somebody who is told of changes. */
interface Follower {
  known: bigint;
  told(revision: bigint): void;
}

export class ServedFlags {
  readonly #core: Pick<Core, 'db' | 'log'>;
  readonly #held = new LRUCache<string, AccountFlags>({
    ...{ max: ACCOUNTS_HELD_MAX, maxSize: HELD_BYTES_MAX, sizeCalculation: ({ bytes }) => bytes },
  });
  readonly #loading = new Map<string, Promise<AccountFlags>>();
  readonly #turns = new AccountTurns(LOADS_AT_ONCE);
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(core: Pick<Core, 'db' | 'log'>) {
    this.#core = core;
    this.#running = this.#look();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Those in memory; undefined: they are to be loaded. */
  held(accountId: string): AccountFlags | undefined {
    const flags = this.#held.get(accountId);
    if (flags !== undefined) flags.usedMs = performance.now();
    return flags;
  }

  load(accountId: string): Promise<AccountFlags> {
    const known = this.#loading.get(accountId);
    if (known !== undefined) return known;
    const loading: Promise<AccountFlags> = this.#turns
      .run(accountId, () => this.#read(accountId))
      .then((flags) => {
        // What has changed meanwhile is not kept.
        if (this.#loading.get(accountId) === loading) this.#held.set(accountId, flags);
        return flags;
      })
      .finally(() => {
        if (this.#loading.get(accountId) === loading) this.#loading.delete(accountId);
      });
    this.#loading.set(accountId, loading);
    return loading;
  }

  /** This process has changed them. */
  changed(accountId: string): void {
    this.#held.delete(accountId);
    this.#loading.delete(accountId);
  }

  /** Somebody was told of this revision, maybe by another process: what is older is dropped. */
  async atLeast(accountId: string, revision: bigint): Promise<void> {
    const held = this.#held.peek(accountId);
    if (held === undefined || held.revision >= revision) return;
    const { revision: now } = await accountOf(this.#core.db, accountId);
    if (now !== held.revision) this.changed(accountId);
  }

  /** Calls `told` when there is another revision than the one that is known, until what it answers is called. */
  follow(accountId: string, known: bigint, told: (revision: bigint) => void): () => void {
    const followers = this.#followers.get(accountId) ?? new Set();
    const follower = { known, told };
    this.#followers.set(accountId, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(accountId) === followers) this.#followers.delete(accountId);
    };
  }

  /** The revision comes first: what changes meanwhile is seen as a change later. */
  async #read(accountId: string): Promise<AccountFlags> {
    const { revision, metadata } = await accountOf(this.#core.db, accountId);
    const rows: FlagRow[] = [];
    if (revision > 0n) for await (const page of allFlags(this.#core.db, accountId)) rows.push(...page);
    const { CompiledFlag } = await import('./compiled-flag.ts');
    return new AccountFlags(revision, rows, (row) => new CompiledFlag(row, metadata));
  }

  async #look(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await sleep(LOOK_EVERY_MS, undefined, { signal });
        await this.#takeChanges();
      } catch (err) {
        if (!signal.aborted) this.#core.log.warn({ err }, 'changes of feature flags could not be read');
      }
    }
  }

  async #takeChanges(): Promise<void> {
    const idleBefore = performance.now() - IDLE_MS;
    for (const [accountId, { usedMs }] of this.#held) if (usedMs < idleBefore) this.#held.delete(accountId);
    const watched = [...new Set([...this.#held.keys(), ...this.#followers.keys()])];
    if (watched.length === 0) return;
    const revisions = await revisionsOf(this.#core.db, watched);
    for (const accountId of watched) {
      const revision = revisions.get(accountId) ?? 0n;
      const held = this.#held.peek(accountId);
      if (held !== undefined && held.revision < revision) this.changed(accountId);
      for (const follower of this.#followers.get(accountId) ?? []) {
        if (follower.known === revision) continue;
        follower.known = revision;
        follower.told(revision);
      }
    }
  }
}
