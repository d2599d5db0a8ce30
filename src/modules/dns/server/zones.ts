// The zones that this process answers for. Their list is whole in memory, so a question about any other zone costs no database read. Records are
// read on first use, kept while there is room, and read again once a zone has changed. An answer is at most a second old, while the database
// answers.
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { repeat } from '../../../core/background/repeat.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { readSets } from '../records/store.ts';
import { findZoneName, nameColumns, type ZoneName, zoneTable } from '../zones/store.ts';
import { ZoneData } from './zone-data.ts';

const LOOK_EVERY_MS = 300;
/** A change may be committed that much later than it says. */
const LATE_MS = 15_000;
/** So often all zones are listed anew: accounts that are removed whole tell no change. */
const WHOLE_EVERY_MS = 60_000;
const PAGE = 5_000;
/** Beyond these, further zones are not answered for. A zone takes some 200 bytes. */
const ZONES_MAX = 1_000_000;
/** Records of zones that are kept; each takes some 300 bytes. */
const WEIGHT_MAX = 400_000;
const LOADS_AT_ONCE = 4;
const LOADS_WAITING_MAX = 200;
/** Of a zone that is being read: made in pieces, so that nothing else waits. */
const SETS_PER_TURN = 500;

const listChanged = statement(
  'dns_list_changed',
  `/* fan-out: zones that have changed; every node holds this table whole */
   SELECT ${nameColumns} FROM dns.zone_name
    WHERE changed_at > $1 ORDER BY changed_at LIMIT $2::int`,
);
const listNames = statement(
  'dns_list_names',
  `/* fan-out: all zones; every node holds this table whole */
   SELECT ${nameColumns} FROM dns.zone_name
    WHERE zone > $1 AND account_id <> '' AND is_embedded ORDER BY zone LIMIT $2::int`,
);

interface Known {
  readonly accountId: string;
  readonly revision: bigint;
}

interface Kept {
  readonly data: ZoneData;
  readonly revision: bigint;
}

export class ServedZones {
  readonly #core: Pick<Services, 'db' | 'log'>;
  readonly #names: readonly string[];
  #known = new Map<string, Known>();
  readonly #kept = new LRUCache<string, Kept>({ maxSize: WEIGHT_MAX, sizeCalculation: ({ data }) => data.weight });
  readonly #loading = new Map<string, Promise<ZoneData | null>>();
  #changedMs = 0;
  #wholeAtMs = 0;
  #stop: (() => Promise<void>) | null = null;

  /** `names`: of this service's name servers. */
  constructor(core: Pick<Services, 'db' | 'log'>, names: readonly string[]) {
    this.#core = core;
    this.#names = names;
  }

  /** Once all zones are known. */
  async open(): Promise<void> {
    await this.#listAll();
    const failed = 'changes of DNS zones could not be read';
    this.#stop = repeat({ everyMs: LOOK_EVERY_MS, log: this.#core.log, failed, work: () => this.#look() });
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** The zone that the name lies in, the longest; null: there is none. */
  zoneOf(name: string): string | null {
    for (let at = name; at !== ''; ) {
      if (this.#known.has(at)) return at;
      const dot = at.indexOf('.');
      at = dot === -1 ? '' : at.slice(dot + 1);
    }
    return null;
  }

  /** At once where it is in memory. Null: it is gone, or cannot be read now. */
  data(zone: string): ZoneData | Promise<ZoneData | null> {
    return this.#kept.get(zone)?.data ?? this.#load(zone);
  }

  #load(zone: string): Promise<ZoneData | null> {
    const loading = this.#loading.get(zone);
    if (loading !== undefined) return loading;
    if (this.#loading.size >= LOADS_WAITING_MAX) return Promise.resolve(null);
    const work = this.#turn(zone).finally(() => this.#loading.delete(zone));
    this.#loading.set(zone, work);
    return work;
  }

  async #turn(zone: string): Promise<ZoneData | null> {
    while (this.#reading >= LOADS_AT_ONCE) await this.#freed.promise;
    this.#reading += 1;
    try {
      return await this.#read(zone);
    } catch (err) {
      this.#core.log.warn({ err, zone }, 'a zone could not be read');
      return null;
    } finally {
      this.#reading -= 1;
      const { resolve } = this.#freed;
      this.#freed = Promise.withResolvers<void>();
      resolve();
    }
  }

  #reading = 0;
  #freed = Promise.withResolvers<void>();

  /** The revision is read first: what changes meanwhile is seen as a change later. */
  async #read(zone: string): Promise<ZoneData | null> {
    const { db } = this.#core;
    const name = await findZoneName(db, zone);
    if (name === null || !isServed(name)) {
      this.#forget(zone);
      return null;
    }
    const place = { accountId: name.account_id, zone };
    const row = await zoneTable.find(db, place, zone);
    if (row === null) return null;
    const sets = await readSets(db, place);
    const data = new ZoneData({ zone, serial: row.serial, nameServers: this.#names });
    for (const [at, set] of sets.entries()) {
      data.add(set);
      if (at % SETS_PER_TURN === SETS_PER_TURN - 1) await turn();
    }
    this.#kept.set(zone, { data, revision: name.revision });
    return data;
  }

  /** While the database is away, what is in memory is still answered. */
  #look(): Promise<void> {
    return performance.now() - this.#wholeAtMs > WHOLE_EVERY_MS ? this.#listAll() : this.#takeChanges();
  }

  async #takeChanges(): Promise<void> {
    const after = timestamp(Math.max(0, this.#changedMs - LATE_MS));
    const { rows } = await this.#core.db.query<ZoneName>(listChanged, [after, PAGE]);
    for (const row of rows) this.#take(row);
    // More than a page within the time that changes may be late: all are listed.
    if (rows.length === PAGE) await this.#listAll();
  }

  async #listAll(): Promise<void> {
    const listed = new Map<string, Known>();
    for (let after = ''; listed.size < ZONES_MAX; ) {
      const { rows } = await this.#core.db.query<ZoneName>(listNames, [after, PAGE]);
      for (const row of rows) {
        listed.set(row.zone, { accountId: row.account_id, revision: row.revision });
        this.#renew(row);
      }
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) break;
      after = last.zone;
    }
    for (const zone of this.#kept.keys()) if (!listed.has(zone)) this.#kept.delete(zone);
    this.#known = listed;
    this.#wholeAtMs = performance.now();
  }

  #take(row: ZoneName): void {
    if (!isServed(row)) this.#forget(row.zone);
    else if (this.#known.size < ZONES_MAX)
      this.#known.set(row.zone, { accountId: row.account_id, revision: row.revision });
    this.#renew(row);
  }

  /** What is in memory, and has changed, is read again; until then it is answered as it was. */
  #renew(name: ZoneName): void {
    const { zone, revision, changed_at } = name;
    this.#changedMs = Math.max(this.#changedMs, changed_at);
    const kept = this.#kept.peek(zone);
    if (kept !== undefined && isServed(name) && kept.revision !== revision) void this.#load(zone);
  }

  #forget(zone: string): void {
    this.#known.delete(zone);
    this.#kept.delete(zone);
  }
}

/** Somebody's, and not at a vendor. */
function isServed({ account_id, is_embedded }: ZoneName): boolean {
  return account_id !== '' && is_embedded;
}
