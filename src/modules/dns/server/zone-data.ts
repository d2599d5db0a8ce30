// A zone in memory, and the algorithm that answers from it (RFC 1034, section 4.3.2; wildcards: RFC 4592; negative answers: RFC 2308; ANY: RFC
// 8482). Nothing here waits.
import { NS_TTL, SOA } from '../limits.ts';
import type { RecordSet } from '../records/sets.ts';
import { rdataOf } from '../records/values.ts';
import { nameBytes, type Rcode, recordBody, TYPES } from '../wire/message.ts';
import { ASKED_NAME, askedSuffix, bareReply, NOTHING, type Query, type Reply, type ReplyRecord } from './message.ts';

/** Aliases that one answer follows within the zone. */
const ALIASES_MAX = 8;
const { NS, CNAME, SOA: SOA_TYPE, A, AAAA, ANY, DS, HINFO } = TYPES;
/** `"RFC8482" ""`. */
const MINIMAL_ANY = recordBody(HINFO, 3_600, Buffer.from('\x07RFC8482\x00', 'latin1'));

interface StoredSet {
  readonly bodies: readonly Buffer[];
  /** Hosts of NS, and the host of a CNAME. */
  readonly hosts: readonly string[];
}

/** A name without sets has names below it (an empty non-terminal). */
type Node = Map<number, StoredSet>;

export interface ZoneSource {
  readonly zone: string;
  readonly serial: bigint;
  readonly nameServers: readonly string[];
}

export class ZoneData {
  readonly zone: string;
  readonly #nodes = new Map<string, Node>();
  /** With the ttl of negative answers. */
  readonly #negative: Buffer;
  readonly #zoneBytes: number;
  #hasCuts = false;
  #values = 0;

  constructor({ zone, serial, nameServers }: ZoneSource) {
    this.zone = zone;
    this.#zoneBytes = zone.length + 2;
    const [primary = 'ns.localhost'] = nameServers;
    const numbers = Buffer.alloc(20);
    const { refresh, retry, expire, minimum, ttl } = SOA;
    for (const [i, value] of [Number(serial) >>> 0, refresh, retry, expire, minimum].entries()) {
      numbers.writeUInt32BE(value, i * 4);
    }
    const rdata = Buffer.concat([nameBytes(primary), nameBytes(mailboxOf(zone)), numbers]);
    this.#negative = recordBody(SOA_TYPE, Math.min(ttl, minimum), rdata);
    const apex = this.#nodeAt(zone);
    apex.set(SOA_TYPE, { bodies: [recordBody(SOA_TYPE, ttl, rdata)], hosts: [] });
    const hosts = [...nameServers];
    apex.set(NS, { bodies: hosts.map((host) => recordBody(NS, NS_TTL, nameBytes(host))), hosts });
  }

  /** What it weighs in memory, in records. */
  get weight(): number {
    return this.#values + this.#nodes.size + 1;
  }

  add({ name, type, ttl, values }: RecordSet): void {
    const number = TYPES[type];
    const bodies = values.map((value) => recordBody(number, ttl, rdataOf(type, value)));
    this.#nodeAt(name).set(number, { bodies, hosts: type === 'NS' || type === 'CNAME' ? values : [] });
    this.#values += values.length;
    if (type === 'NS' && name !== this.zone) this.#hasCuts = true;
  }

  /** The answer to a query for a name that lies in the zone. */
  answer(query: Query): Reply {
    const answers: ReplyRecord[] = [];
    let name = query.name;
    let owner: Buffer = ASKED_NAME;
    for (let followed = 0; ; followed += 1) {
      const cut = this.#hasCuts ? this.#cutAbove(name, query.type) : null;
      if (cut !== null) return this.#referral(answers, cut);
      const node = this.#nodes.get(name) ?? this.#wildcard(name);
      if (node === undefined) return this.#none(query, 'NXDOMAIN', answers);
      const set = node.get(query.type);
      if (set !== undefined) return this.#replyWith(answers, owner, set);
      const alias = node.get(CNAME);
      if (query.type === ANY && node.size > 0) {
        return this.#replyWith(answers, owner, { bodies: [MINIMAL_ANY], hosts: [] });
      }
      if (alias === undefined) return this.#none(query, 'NOERROR', answers);
      push(answers, owner, alias);
      name = alias.hosts[0] as string;
      // Whoever asks follows an alias that leads elsewhere, or in circles.
      if (!name.endsWith(`.${this.zone}`) && name !== this.zone) return this.#replyWith(answers, owner, null);
      if (followed === ALIASES_MAX) return this.#replyWith(answers, owner, null);
      owner = nameBytes(name);
    }
  }

  #replyWith(answers: ReplyRecord[], owner: Buffer, set: StoredSet | null): Reply {
    if (set !== null) push(answers, owner, set);
    return { rcode: 'NOERROR', isAuthoritative: true, answers, authority: NOTHING, additional: NOTHING };
  }

  #none(query: Query, rcode: Rcode, answers: readonly ReplyRecord[]): Reply {
    const authority = [{ owner: askedSuffix(query, this.#zoneBytes), body: this.#negative }];
    return { rcode, isAuthoritative: true, answers, authority, additional: NOTHING };
  }

  /** To the name servers of a zone below this one, with their addresses where they stand here. */
  #referral(answers: readonly ReplyRecord[], cut: string): Reply {
    const set = this.#nodes.get(cut)?.get(NS);
    if (set === undefined) return bareReply('SERVFAIL');
    const authority: ReplyRecord[] = [];
    push(authority, nameBytes(cut), set);
    const additional: ReplyRecord[] = [];
    for (const host of set.hosts) {
      const node = this.#nodes.get(host);
      for (const type of [A, AAAA]) {
        const glue = node?.get(type);
        if (glue !== undefined) push(additional, nameBytes(host), glue);
      }
    }
    return { rcode: 'NOERROR', isAuthoritative: answers.length > 0, answers, authority, additional };
  }

  /** The highest name from the zone down to `name` that is another zone's. Of DS the parent speaks. */
  #cutAbove(name: string, type: number): string | null {
    let found: string | null = null;
    for (let at = name; at !== this.zone; at = at.slice(at.indexOf('.') + 1)) {
      const isCut = this.#nodes.get(at)?.has(NS) === true;
      if (isCut && !(type === DS && at === name)) found = at;
    }
    return found;
  }

  /** Of the closest name above that exists; a name with an asterisk of its own has one like all others. */
  #wildcard(name: string): Node | undefined {
    for (let at = name; at !== this.zone; ) {
      at = at.slice(at.indexOf('.') + 1);
      if (this.#nodes.has(at)) return this.#nodes.get(`*.${at}`);
    }
    return undefined;
  }

  /** The names between it and the zone exist too. */
  #nodeAt(name: string): Node {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node: Node = new Map();
    this.#nodes.set(name, node);
    if (name !== this.zone) this.#nodeAt(name.slice(name.indexOf('.') + 1));
    return node;
  }
}

function push(records: ReplyRecord[], owner: Buffer, { bodies }: StoredSet): void {
  for (const body of bodies) records.push({ owner, body });
}

/** In a name the part before the first dot is the mailbox. A zone that leaves no room for it is its own. */
function mailboxOf(zone: string): string {
  return zone.length < 240 ? `hostmaster.${zone}` : zone;
}
