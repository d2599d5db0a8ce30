// Zones of the operator's account at Cloudflare. A change is one batch, which Cloudflare applies whole or not at all, of 200 records at most
// (its free plan). Then the zone is read again, since somebody else may have changed the same names between the read and the batch.
import { lruOf } from '../../../../lib/lru.ts';
import { at, textAt } from '../../../../vendors/call/answer.ts';
import type { ModelRow } from '../../../../vendors/file/port.ts';
import type { OutboundClient } from '../../../../vendors/http/port.ts';
import { RECORDS_MAX } from '../../limits.ts';
import { readName } from '../../records/names.ts';
import type { RecordSet } from '../../records/sets.ts';
import { type HostedZone, type SetChange, VendorFault, type ZoneHost } from '../port.ts';
import { CloudflareClient } from './client.ts';
import { type CloudflareRecord, readRecord, ttlThere, writeRecord } from './records.ts';

const PAGE = 1_000;
/** Those of other types among them. */
const PAGES_MAX = (3 * RECORDS_MAX) / PAGE;
const BATCH_MAX = 200;
/** A batch, and what is still to change after others were there. */
const ROUNDS = 3;
const ZONES_KEPT = 5_000;

interface Known {
  readonly id: string;
  readonly nameServers: readonly string[];
}

export class CloudflareHost implements ZoneHost {
  readonly #client: CloudflareClient;
  readonly #turns = new Map<string, Promise<void>>();
  readonly #known = lruOf<Known>(ZONES_KEPT, { ttl: 60_000 });

  constructor(outbound: OutboundClient, row: ModelRow) {
    this.#client = new CloudflareClient(outbound, row);
  }

  async read(zone: string, signal: AbortSignal): Promise<HostedZone | null> {
    const known = await this.#find(zone, signal);
    if (known === null) return null;
    const records = await this.#records(known.id, zone, signal);
    return {
      zone,
      nameServers: known.nameServers,
      sets: setsOf(records, zone),
      ttlOf: ttlThere,
      change: (changes, until) => this.#inTurn(zone, () => this.#change(known.id, zone, changes, until)),
    };
  }

  async #find(zone: string, signal: AbortSignal): Promise<Known | null> {
    const kept = this.#known.get(zone);
    if (kept !== undefined) return kept;
    const { result } = await this.#client.page(`/zones?name=${encodeURIComponent(zone)}&per_page=50`, signal);
    const found = result.find((each) => readName(textAt(each, 'name', 300) ?? '') === zone);
    const id = textAt(found, 'id', 64);
    if (found === undefined || id === null || !/^[0-9a-f]{32}$/.test(id)) return null;
    const hosts = at(found, 'name_servers');
    const nameServers = (Array.isArray(hosts) ? hosts : []).map((host) => readName(String(host)) ?? '').filter(Boolean);
    const known = { id, nameServers: nameServers.slice(0, 20) };
    this.#known.set(zone, known);
    return known;
  }

  async #records(id: string, zone: string, signal: AbortSignal): Promise<readonly CloudflareRecord[]> {
    const found: CloudflareRecord[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      if (page > PAGES_MAX)
        throw new VendorFault('VENDOR_ERROR', `The zone has more than ${PAGE * PAGES_MAX} records.`);
      const listed = await this.#client.page(`/zones/${id}/dns_records?per_page=${PAGE}&page=${page}`, signal);
      for (const each of listed.result) {
        const record = readRecord(each, zone);
        if (record !== null) found.push(record);
      }
      pages = listed.pages;
    }
    return found;
  }

  /** Of one zone at a time, as far as this process goes. */
  async #inTurn(zone: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(zone) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    this.#turns.set(zone, settled);
    try {
      await mine;
    } finally {
      if (this.#turns.get(zone) === settled) this.#turns.delete(zone);
    }
  }

  async #change(id: string, zone: string, changes: readonly SetChange[], signal: AbortSignal): Promise<void> {
    for (let round = 0; ; round += 1) {
      const steps = stepsOf(await this.#records(id, zone, signal), changes);
      if (steps.length === 0) return;
      if (round === ROUNDS) {
        throw new VendorFault('VENDOR_DOWN', 'Somebody else changes the same names: send the call again.', {
          isRace: true,
        });
      }
      for (let from = 0; from < steps.length; from += BATCH_MAX) {
        await this.#client.post(`/zones/${id}/dns_records/batch`, batchOf(steps.slice(from, from + BATCH_MAX)), signal);
      }
    }
  }
}

type Step = { readonly deletes: { readonly id: string } } | { readonly posts: object };

function batchOf(steps: readonly Step[]) {
  return {
    deletes: steps.flatMap((step) => ('deletes' in step ? [step.deletes] : [])),
    posts: steps.flatMap((step) => ('posts' in step ? [step.posts] : [])),
  };
}

/** What of the records goes, and what comes, name by name; none: all is as wanted. */
function stepsOf(records: readonly CloudflareRecord[], changes: readonly SetChange[]): readonly Step[] {
  const there = Map.groupBy(records, ({ name, type }) => `${name} ${type}`);
  return changes
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .flatMap(({ name, type, set }) => {
      const now = there.get(`${name} ${type}`) ?? [];
      const kept = new Map<string, CloudflareRecord>();
      for (const record of now) if (set !== null && isWanted(record, set)) kept.set(record.value, record);
      const stays = new Set(kept.values());
      const gone = now.filter((record) => !stays.has(record)).map(({ id }) => ({ deletes: { id } }));
      const come = (set?.values ?? [])
        .filter((value) => !kept.has(value))
        .map((value) => ({ posts: writeRecord(name, type, set?.ttl ?? LEAST_TTL, value) }));
      return [...gone, ...come];
    });
}

const LEAST_TTL = ttlThere(0);

function isWanted({ value, ttl, isProxied }: CloudflareRecord, set: Pick<RecordSet, 'ttl' | 'values'>): boolean {
  return set.values.includes(value) && (isProxied || ttl === set.ttl);
}

function setsOf(records: readonly CloudflareRecord[], zone: string): readonly RecordSet[] {
  const sets = new Map<string, { name: string; type: RecordSet['type']; ttl: number; values: string[] }>();
  for (const { name, type, ttl, value } of records) {
    if (type === 'NS' && name === zone) continue;
    const key = `${name} ${type}`;
    const set = sets.get(key) ?? { name, type, ttl, values: [] };
    sets.set(key, set);
    if (!set.values.includes(value)) set.values.push(value);
  }
  return [...sets.values()].sort((a, b) => (a.name === b.name ? (a.type < b.type ? -1 : 1) : a.name < b.name ? -1 : 1));
}
