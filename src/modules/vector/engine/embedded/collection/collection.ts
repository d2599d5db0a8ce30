// One collection on its worker. It is brought up to the requested version, one call after the other, so no search sees half of a change. Pages
// of a load are read without a snapshot: a row that changes meanwhile has a version above the one seen at the start. The changes pulled after
// the load make the state whole.
import pLimit from 'p-limit';
import { TimeSlices } from '../../../../../lib/time-slices.ts';
import { SLICE_MS } from '../../../limits.ts';
import { type Change, CollectionGone, type CollectionRef, type Search, type SearchResult } from '../../port.ts';
import {
  changesAfter,
  type Page,
  readCollection,
  readItems,
  readSnapshot,
  readTombstones,
  type StoredItem,
} from '../../reader.ts';
import { searchStream } from '../../stream-search.ts';
import { Undecided } from '../filter/filter.ts';
import type { Held } from '../memory/shelf.ts';
import type { WorkerContext } from '../threads/worker-context.ts';
import { FIXED_BYTES, Resident } from './resident.ts';

/** Ids and a few values of metadata, until the rows themselves are counted. */
const ROW_BYTES_BESIDE = 100;
const LOAD_TRIES_MAX = 3;
/** How many rows are taken in before it is seen what they really take. */
const ROWS_PER_LOOK = 16;
/** A collection that once did not fit is tried again when this much of it is left. */
const SHRUNK = 0.8;
const CHECK_EVERY_MS = 10_000;

/** 'too large': the budget would not hold it even alone. */
type Taken = 'done' | 'no room' | 'too large';
type Pulled = Taken | 'forgotten';

export class Collection implements Held {
  readonly key: string;
  resident: Resident | null = null;
  pins = 0;
  reservedBytes = 0;
  readonly #ref: CollectionRef;
  readonly #context: WorkerContext;
  readonly #turn = pLimit(1);
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
      this.#context.shelf.noteSize(this);
      this.#context.onChange(this, 'ready');
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
    shelf.notePinned();
    try {
      return await this.#turn(work);
    } finally {
      this.pins -= 1;
      shelf.notePinned();
    }
  }

  async #buildLists(resident: Resident, bytes: number): Promise<void> {
    const { builds, shelf, count } = this.#context;
    await builds(async () => {
      if (!(await shelf.makeRoom(bytes)) || this.resident !== resident) return;
      const built = await resident.buildLists((work) => this.#alone(work));
      if (this.resident !== resident) return;
      if (built) count('listBuilds');
      shelf.touch(this);
      this.#context.onChange(this, 'ready');
    });
  }

  #stream(searches: readonly Search[]): Promise<SearchResult[]> {
    const { reads, db } = this.#context;
    this.#context.count('streamed');
    return reads(() => searchStream(db, this.#ref, searches));
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
    return this.#context.reads(() => this.#load());
  }

  async #load(): Promise<Resident | null> {
    this.#context.onChange(this, 'loading');
    try {
      for (let attempt = 1; attempt <= LOAD_TRIES_MAX; attempt += 1) {
        const pulled = await this.#loadOnce();
        if (pulled === 'done') {
          this.#context.count('loads');
          this.#context.onChange(this, 'ready');
          return this.resident;
        }
        this.#drop();
        if (pulled !== 'forgotten') return null;
      }
      return null;
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  async #loadOnce(): Promise<Pulled> {
    const { db, shelf, pool, budgetBytes } = this.#context;
    const row = await readCollection(db, this.#ref);
    if (row === undefined) throw new CollectionGone();
    const bytes = FIXED_BYTES + row.vectorCount * this.#rowBytes;
    if (bytes > budgetBytes || row.vectorCount > this.#tooManyRows * SHRUNK) return 'no room';
    if (!(await shelf.makeRoom(bytes))) return 'no room';
    this.#tooManyRows = Number.POSITIVE_INFINITY;
    this.reservedBytes = bytes;
    const resident = new Resident(pool, this.#ref);
    this.resident = resident;
    shelf.touch(this);
    resident.expect(row.vectorCount);
    let pulled: Pulled = await this.#readPages(resident, row.version);
    if (pulled === 'done') {
      this.#version = row.version;
      this.reservedBytes = 0;
      pulled = await this.#pull(resident);
    }
    if (pulled === 'too large') this.#tooManyRows = row.vectorCount;
    return pulled;
  }

  async #readPages(resident: Resident, upTo: number): Promise<Taken> {
    const { db } = this.#context;
    const slices = new TimeSlices(SLICE_MS);
    for (let reading: Promise<Page> | undefined = readItems(db, this.#ref, changesAfter(-1), upTo); reading; ) {
      const { items, next }: Page = await reading;
      // the next page is on its way while this one is taken in
      reading = next === null ? undefined : readItems(db, this.#ref, next, upTo);
      reading?.catch(() => undefined);
      const taken = await this.#take(resident, items, slices);
      if (taken !== 'done') return taken;
    }
    return 'done';
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
        readItems(tx, this.#ref, changesAfter(known), everything),
      ]);
      if (row === undefined) {
        this.#drop();
        throw new CollectionGone();
      }
      if (row.forgottenVersion > known) return 'forgotten';
      this.#torn = true;
      const slices = new TimeSlices(SLICE_MS);
      for (const { id, version } of tombstones) resident.remove(id, version);
      for (let page: Page = first; ; ) {
        const taken = await this.#take(resident, page.items, slices);
        if (taken !== 'done') return taken;
        if (page.next === null) break;
        page = await readItems(tx, this.#ref, page.next, everything);
      }
      this.#torn = false;
      this.#version = row.version;
      if (known !== row.version) {
        this.#context.count('deltas');
        this.#context.onChange(this, 'ready');
      }
      return 'done';
    });
  }

  async #take(resident: Resident, items: readonly StoredItem[], slices: TimeSlices): Promise<Taken> {
    for (let from = 0; from < items.length; from += ROWS_PER_LOOK) {
      const some = items.slice(from, from + ROWS_PER_LOOK);
      const taken = await this.#fit(resident, some.length);
      if (taken !== 'done') return taken;
      for (const item of some) resident.upsert(item);
      if (slices.isOver) await slices.next();
    }
    return this.#fit(resident, 0);
  }

  /** Takes note of what it really takes by now, and sees to room for more rows: what metadata takes shows only behind them. */
  async #fit(resident: Resident, rows: number): Promise<Taken> {
    const { shelf, budgetBytes } = this.#context;
    const bytes = rows * this.#rowBytes;
    shelf.touch(this);
    if (resident.bytes + bytes <= this.reservedBytes) return 'done';
    if (resident.bytes + bytes > budgetBytes) return 'too large';
    return (await shelf.makeRoom(bytes)) ? 'done' : 'no room';
  }

  get #rowBytes(): number {
    return this.#ref.dimension * 5 + 64 + ROW_BYTES_BESIDE;
  }

  #drop(): void {
    this.#context.shelf.drop(this);
    this.#context.onChange(this, 'cold');
    this.#torn = false;
  }
}
