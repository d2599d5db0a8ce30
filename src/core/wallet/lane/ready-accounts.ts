// Accounts with waiting calls and no commit in flight, in order of arrival: round robin. They share commits: all on plain PostgreSQL, those of
// one shard on a distributed engine.
import type { Placement } from '../../../db/placement.ts';

/** Accounts that may share a commit. */
interface Group {
  readonly shard: bigint | null;
  readonly ready: Set<string>;
  commits: number;
}

/** One commit. */
export interface Turn {
  readonly accountsMax: number;
  /** Those that may take part: who does is told by `remove`. */
  readonly accounts: Iterable<string>;
  readonly remove: (accountId: string) => void;
  /** The commit has ended. */
  readonly end: () => void;
}

export interface CommitBounds {
  readonly accountsPerCommit: number;
  /** At once, of those that may share commits. */
  readonly commitsOfGroup: number;
  /** At once at one node: one that is down, or slow, holds up no other. */
  readonly commitsOfNode: number;
}

export class ReadyAccounts {
  readonly #placement: Placement | null;
  readonly #bounds: CommitBounds;
  readonly #groups = new Map<bigint | null, Group>();
  readonly #commitsOfNode = new Map<string, number>();

  constructor(placement: Placement | null, bounds: CommitBounds) {
    this.#placement = placement;
    this.#bounds = bounds;
  }

  add(accountId: string): void {
    const shard = this.#placement?.shardOf(accountId) ?? null;
    let group = this.#groups.get(shard);
    if (group === undefined) {
      group = { shard, ready: new Set(), commits: 0 };
      this.#groups.set(shard, group);
    }
    group.ready.add(accountId);
  }

  /** Whether a commit may start. */
  get isDue(): boolean {
    return this.#next() !== undefined;
  }

  /** The next commit that may start; null: none. */
  take(): Turn | null {
    const group = this.#next();
    if (group === undefined) return null;
    const { shard, ready } = group;
    // Its share of what is ready: all in one commit, the database and this process would only wait for one another.
    const share = Math.ceil(ready.size / (this.#commitsOfGroup(group) - group.commits));
    const node = this.#nodeOf(group);
    this.#count(group, node, 1);
    // The others have their turn first.
    this.#groups.delete(shard);
    this.#groups.set(shard, group);
    return {
      accountsMax: this.#mayShare(group) ? Math.min(share, this.#bounds.accountsPerCommit) : 1,
      accounts: ready,
      remove: (accountId) => void ready.delete(accountId),
      end: () => this.#count(group, node, -1),
    };
  }

  #next(): Group | undefined {
    for (const group of this.#groups.values()) {
      if (group.ready.size === 0 || group.commits >= this.#commitsOfGroup(group)) continue;
      if ((this.#commitsOfNode.get(this.#nodeOf(group)) ?? 0) < this.#bounds.commitsOfNode) return group;
    }
    return undefined;
  }

  /** On a distributed engine accounts of unknown shards are none that belong together. */
  #mayShare({ shard }: Group): boolean {
    return this.#placement === null || shard !== null;
  }

  #commitsOfGroup(group: Group): number {
    return this.#mayShare(group) ? this.#bounds.commitsOfGroup : this.#bounds.commitsOfNode;
  }

  #nodeOf({ shard }: Group): string {
    return (shard === null ? null : this.#placement?.nodeOf(shard))?.name ?? '';
  }

  #count(group: Group, node: string, by: 1 | -1): void {
    group.commits += by;
    this.#commitsOfNode.set(node, (this.#commitsOfNode.get(node) ?? 0) + by);
  }
}
