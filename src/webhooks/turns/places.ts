// Pools of slots for this process's attempts, so that receivers that hang never take the slots of receivers that answer.
// Each health of a line has its own pool. A line's first attempts run in `unknown`: a hanging receiver passes through it once and is
// `failing` afterwards. An attempt of a healthy line that takes longer than a second moves to `slow` while there is room.
// Together the pools limit the open sockets to 1,792. What may take longer than 15 s is in none of them: it has a place among the long calls of
// its account (core/outbound/long-calls.ts).
import type { LongCaller, LongCalls } from '../../core/outbound/long-calls.ts';

export const HEALTH = { unknown: 0, healthy: 1, failing: 2 } as const;
export type Health = (typeof HEALTH)[keyof typeof HEALTH];

export type PoolName = 'unknown' | 'healthy' | 'failing' | 'slow';

export const poolOf = ['unknown', 'healthy', 'failing'] as const satisfies readonly PoolName[];
const defaultSizes: Readonly<Record<PoolName, number>> = { unknown: 512, healthy: 256, failing: 512, slow: 512 };
/** No account takes more than this part of a pool, so that none fills it alone. */
const ACCOUNT_SHARE = 1 / 4;

interface Pool {
  readonly size: number;
  used: number;
  readonly byAccount: Map<string, number>;
}

/** A taken place. */
export interface Place {
  readonly accountId: string;
  /** Null: of a long call. */
  pool: PoolName | null;
  longCaller: LongCaller | null;
}

export class Places {
  readonly #pools: Readonly<Record<PoolName, Pool>>;

  readonly #longCalls: Pick<LongCalls, 'reserve' | 'release'> | null;

  /** `longCalls`: null where no call takes long. */
  constructor(
    sizes: Readonly<Record<PoolName, number>> = defaultSizes,
    longCalls: Pick<LongCalls, 'reserve' | 'release'> | null = null,
  ) {
    this.#longCalls = longCalls;
    const pool = (name: PoolName): Pool => ({ size: sizes[name], used: 0, byAccount: new Map() });
    this.#pools = { unknown: pool('unknown'), healthy: pool('healthy'), failing: pool('failing'), slow: pool('slow') };
  }

  /** Free places for lines of this health, whoever asks. */
  room(health: Health): number {
    const pool = this.#of(health);
    return pool.size - pool.used;
  }

  /** Free places for lines of this health of one account. */
  roomOf(health: Health, accountId: string): number {
    const pool = this.#of(health);
    const share = Math.max(1, Math.floor(pool.size * ACCOUNT_SHARE));
    return Math.min(pool.size - pool.used, share - (pool.byAccount.get(accountId) ?? 0));
  }

  /** Takes a place; the caller has looked whether there is room. */
  take(health: Health, accountId: string): Place {
    const place: Place = { accountId, pool: poolOf[health], longCaller: null };
    this.#count(place, 1);
    return place;
  }

  /** The attempt takes long: a healthy place becomes free for others, if there is room among the slow ones. */
  slow(place: Place): boolean {
    const { slow } = this.#pools;
    if (place.pool !== 'healthy' || slow.used >= slow.size) return false;
    this.#count(place, -1);
    place.pool = 'slow';
    this.#count(place, 1);
    return true;
  }

  /** Up to `wanted` places of long calls. */
  takeLong(caller: LongCaller, wanted: number): Place[] {
    const granted = this.#longCalls?.reserve(caller, wanted) ?? 0;
    return Array.from({ length: granted }, () => ({ accountId: caller.accountId, pool: null, longCaller: caller }));
  }

  /** The attempt turns out to be a long one. False: there is no room for it. */
  lengthen(place: Place, caller: LongCaller): boolean {
    if (place.pool === null) return true;
    const [long] = this.takeLong(caller, 1);
    if (long === undefined) return false;
    this.#count(place, -1);
    Object.assign(place, long);
    return true;
  }

  release(place: Place): void {
    if (place.longCaller === null) this.#count(place, -1);
    else this.#longCalls?.release(place.longCaller, 1);
  }

  usedPlaces(): readonly (readonly [pool: string, used: number])[] {
    return Object.entries(this.#pools).map(([name, pool]) => [name, pool.used] as const);
  }

  #of(health: Health): Pool {
    return this.#pools[poolOf[health]];
  }

  #count({ accountId, pool: name }: Place, by: 1 | -1): void {
    if (name === null) return;
    const pool = this.#pools[name];
    pool.used += by;
    const left = (pool.byAccount.get(accountId) ?? 0) + by;
    if (left === 0) pool.byAccount.delete(accountId);
    else pool.byAccount.set(accountId, left);
  }
}

export const placesTotal = Object.values(defaultSizes).reduce((sum, size) => sum + size, 0);
