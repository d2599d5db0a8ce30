// One collection on its worker: brought up to the version that is asked for, one call after the other, so that no search sees
// half of a change. Pages of a load are read without a snapshot: whatever changes meanwhile has a version above the one seen at
// its start, so the changes pulled behind it make the state whole.
import type { Database } from '../../../../db/database.ts';
import { Turns } from '../../../../lib/turns.ts';
import { type Change, CollectionGone, type CollectionRef, type Search, type SearchResult } from '../port.ts';
import type { ArenaPool } from './arena.ts';
import { Undecided } from './filter.ts';
import { Pace } from './pace.ts';
import type { Partner } from './partner.ts';
import type { Counter } from './protocol.ts';
import { itemsPerPage, placeAfter, readCollection, readItems, readSnapshot, readTombstones } from './reader.ts';
import { FIXED_BYTES, Resident, type StoredItem } from './resident.ts';
import type { Held, Shelf } from './shelf.ts';
import { searchStream } from './stream-search.ts';

/** Ids and a few values of metadata, until the rows themselves are counted. */
const ROW_BYTES_BESIDE = 100;
const LOAD_TRIES_MAX = 3;
/** A collection that once did not fit is tried again when this much of it is left. */
const SHRUNK = 0.8;
const CHECK_EVERY_MS = 10_000;

export interface WorkerContext {
  readonly db: Database;
  readonly pool: ArenaPool;
  readonly partner: Partner;
  readonly shelf: Shelf;
  /** Loads and streamed searches at a time. */
  readonly reads: Turns;
  /** Lists built at a time. */
  readonly builds: Turns;
  readonly budgetBytes: number;
  /** From so many bytes of the first pass on, unfiltered searches may use lists. */
  readonly listsFromBytes: number;
  /** What nobody waits for went wrong. */
  trouble(error: unknown): void;
  count(figure: Counter): void;
  /** The collection's index is being made, or has another size. */
  changed(collection: Collection, state: 'loading' | 'ready' | 'cold'): void;
}

type Pulled = 'done' | 'forgotten' | 'too large';

export class Collection implements Held {
  readonly key: string;
  resident: Resident | null = null;
  pins = 0;
  reservedBytes = 0;
  readonly #ref: CollectionRef;
  readonly #context: WorkerContext;
  readonly #turn = new Turns(1);
  #version = -1;
  /** Some of a change was applied, not all of it. */
  #torn = false;
  #tooManyRows = Number.POSITIVE_INFINITY;
  #building = false;
  #checkAtMs = 0;

  constructor(key: string, ref: CollectionRef, context: WorkerContext) {
    this.key = key;
    this.#ref = ref;
    this.#context = context;
  }

  /** Whether there is anything to remember. */
  get empty(): boolean {
    return this.pins === 0 && this.resident === null && this.#tooManyRows === Number.POSITIVE_INFINITY;
  }

  /** Searches at `version` or later. Throws CollectionGone. */
  async search(version: number, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[]> {
    return await this.#alone(async () => {
      signal.throwIfAborted();
      const resident = await this.#bring(version);
      if (resident === null) return this.#stream(searches);
      const found = await this.#searchResident(resident, searches);
      this.#improve(resident, searches, found);
      return found;
    }).finally(() => this.#context.shelf.touch(this));
  }

  /** Takes over what a commit changed, if that is all that is missing. False when it was not: the next search reads it. */
  follow({ ref: { version }, ids, floats, metadata }: Change): Promise<boolean> {
    return this.#alone(async () => {
      const { resident } = this;
      if (resident === null || resident.wasteful || this.#torn || this.#version !== version - 1) return false;
      const bytes = this.#ref.dimension * Float32Array.BYTES_PER_ELEMENT;
      if (!(await this.#context.shelf.makeRoom(ids.length * this.#rowBytes))) return false;
      this.#torn = true;
      for (const [i, id] of ids.entries()) {
        const embedding = floats.subarray(i * bytes, (i + 1) * bytes);
        resident.upsert({ id, version, embedding, metadata: JSON.parse(metadata[i] ?? 'null') });
      }
      this.#torn = false;
      this.#version = version;
      this.#context.shelf.resized(this);
      this.#context.changed(this, 'ready');
      return true;
    });
  }

  async #searchResident(resident: Resident, searches: readonly Search[]): Promise<SearchResult[]> {
    try {
      const results: SearchResult[] = [];
      for (const search of searches) results.push(await resident.search(search));
      return results;
    } catch (error) {
      if (error instanceof Undecided) return this.#stream(searches);
      throw error;
    }
  }

  /** Builds lists where they are due, and has answers from lists checked now and then: behind the answer. */
  #improve(resident: Resident, searches: readonly Search[], results: readonly SearchResult[]): void {
    const { listsFromBytes, trouble } = this.#context;
    const bytes = resident.listsDue(listsFromBytes);
    if (bytes !== undefined && !this.#building) {
      this.#building = true;
      this.#buildLists(resident, bytes)
        .catch(trouble)
        .finally(() => {
          this.#building = false;
        });
    }
    const at = results.findIndex(({ plan }) => plan === 'ivf');
    if (at === -1 || performance.now() < this.#checkAtMs) return;
    this.#checkAtMs = performance.now() + CHECK_EVERY_MS;
    const [search, result, version] = [searches[at] as Search, results[at] as SearchResult, this.#version];
    this.#alone(async () => {
      if (this.resident !== resident || this.#version !== version || this.#torn) return;
      await resident.checkRecall(search, result);
      this.#context.count('recallChecks');
    }).catch(trouble);
  }

  /** Runs `work` in its turn; the collection is not evicted before. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const { shelf } = this.#context;
    this.pins += 1;
    shelf.pinned();
    try {
      return await this.#turn.run(work);
    } finally {
      this.pins -= 1;
      shelf.pinned();
    }
  }

  async #buildLists(resident: Resident, bytes: number): Promise<void> {
    const { builds, shelf, count } = this.#context;
    await builds.run(async () => {
      if (!(await shelf.makeRoom(bytes)) || this.resident !== resident) return;
      const built = await resident.buildLists((work) => this.#alone(work));
      if (this.resident !== resident) return;
      if (built) count('listBuilds');
      shelf.touch(this);
      this.#context.changed(this, 'ready');
    });
  }

  #stream(searches: readonly Search[]): Promise<SearchResult[]> {
    const { reads, db } = this.#context;
    this.#context.count('streamed');
    return reads.run(() => searchStream(db, this.#ref, searches));
  }

  /** The collection in memory, new enough; null when it does not fit there. */
  async #bring(version: number): Promise<Resident | null> {
    if (this.resident !== null && !this.#torn && this.#version >= version) return this.resident;
    if (this.resident !== null) {
      const pulled = await this.#pull(this.resident);
      if (pulled === 'done' && !this.resident.wasteful) return this.resident;
      this.#context.count('reloads');
      this.#drop();
    }
    return this.#context.reads.run(() => this.#load());
  }

  async #load(): Promise<Resident | null> {
    this.#context.changed(this, 'loading');
    try {
      for (let attempt = 1; attempt <= LOAD_TRIES_MAX; attempt += 1) {
        const pulled = await this.#loadOnce();
        if (pulled === 'done') {
          this.#context.count('loads');
          this.#context.changed(this, 'ready');
          return this.resident;
        }
        this.#drop();
        if (pulled === 'too large') return null;
      }
      return null;
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  async #loadOnce(): Promise<Pulled> {
    const { db, shelf, pool, partner, budgetBytes } = this.#context;
    const row = await readCollection(db, this.#ref);
    if (row === undefined) throw new CollectionGone();
    const bytes = FIXED_BYTES + row.vectorCount * this.#rowBytes;
    if (bytes > budgetBytes || row.vectorCount > this.#tooManyRows * SHRUNK) return 'too large';
    if (!(await shelf.makeRoom(bytes))) return 'too large';
    this.reservedBytes = bytes;
    const resident = new Resident(pool, this.#ref, partner);
    this.resident = resident;
    shelf.touch(this);
    resident.expect(row.vectorCount);
    if (!(await this.#readPages(resident, row.version))) {
      this.#tooManyRows = row.vectorCount;
      return 'too large';
    }
    this.#tooManyRows = Number.POSITIVE_INFINITY;
    this.#version = row.version;
    this.reservedBytes = 0;
    return this.#pull(resident);
  }

  /** False when it does not fit. */
  async #readPages(resident: Resident, upTo: number): Promise<boolean> {
    const { db } = this.#context;
    const pace = new Pace();
    let page = await readItems(db, this.#ref, placeAfter(-1), upTo);
    for (;;) {
      const last = page.at(-1);
      if (last === undefined) return true;
      const isLast = page.length < itemsPerPage(this.#ref.dimension);
      // the next page is on its way while this one is taken in
      const next = isLast ? undefined : readItems(db, this.#ref, last, upTo);
      next?.catch(() => undefined);
      if (!(await this.#take(resident, page, pace))) return false;
      if (next === undefined) return true;
      page = await next;
    }
  }

  /** Everything that changed since the version that is held, in one snapshot. */
  #pull(resident: Resident): Promise<Pulled> {
    const { db } = this.#context;
    const known = this.#version;
    return readSnapshot(db, async (tx) => {
      const everything = Number.MAX_SAFE_INTEGER;
      const [row, tombstones, first] = await Promise.all([
        readCollection(tx, this.#ref),
        readTombstones(tx, this.#ref, known),
        readItems(tx, this.#ref, placeAfter(known), everything),
      ]);
      if (row === undefined) {
        this.#drop();
        throw new CollectionGone();
      }
      if (row.forgottenVersion > known) return 'forgotten';
      this.#torn = true;
      const pace = new Pace();
      for (const { id, version } of tombstones) resident.remove(id, version);
      for (let page = first; ; ) {
        if (!(await this.#take(resident, page, pace))) return 'too large';
        const last = page.at(-1);
        if (last === undefined || page.length < itemsPerPage(this.#ref.dimension)) break;
        page = await readItems(tx, this.#ref, last, everything);
      }
      this.#torn = false;
      this.#version = row.version;
      if (known !== row.version) {
        this.#context.count('deltas');
        this.#context.changed(this, 'ready');
      }
      return 'done';
    });
  }

  async #take(resident: Resident, page: readonly StoredItem[], pace: Pace): Promise<boolean> {
    const { shelf } = this.#context;
    const bytes = page.length * this.#rowBytes;
    if (resident.bytes + bytes > this.reservedBytes && !(await shelf.makeRoom(bytes))) return false;
    for (const item of page) {
      resident.upsert(item);
      if (pace.due) await pace.rest();
    }
    shelf.touch(this);
    return true;
  }

  get #rowBytes(): number {
    return this.#ref.dimension * 5 + 64 + ROW_BYTES_BESIDE;
  }

  #drop(): void {
    this.#context.shelf.drop(this);
    this.#context.changed(this, 'cold');
    this.#torn = false;
  }
}
