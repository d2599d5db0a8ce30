// What keys were seen how often, as one commit counts its calls: rows as they were read, then one call after the other.
import { KEEP_SECONDS, LINKED_KEYS, RECENT_DECISIONS } from '../limits.ts';
import { type Kind, kindOf } from '../signals/keys.ts';
import { Partners } from '../signals/partners.ts';
import { Series, SIGHTINGS } from '../signals/series.ts';
import type { WindowRow } from './store.ts';

interface Seen {
  readonly accountId: string;
  readonly key: Buffer;
  readonly series: Series;
  readonly partners: Partners;
  recent: Buffer;
  isChanged: boolean;
}

const NOTHING = Buffer.alloc(0);
const SEQ_BYTES = 8;
const keyId = (accountId: string, key: Buffer) => `${accountId} ${key.toString('latin1')}`;

export class Tally {
  readonly #keys: Map<string, Seen>;

  constructor(rows: readonly WindowRow[]) {
    this.#keys = new Map(
      rows.map(({ account_id: accountId, key, series, partners, recent }) => [
        keyId(accountId, key),
        {
          ...{ accountId, key, series: Series.decode(series), partners: new Partners(partners) },
          ...{ recent, isChanged: false },
        },
      ]),
    );
  }

  /** Counts a call, and answers the series of its keys, by their kinds. */
  count(accountId: string, keys: readonly Buffer[], seq: bigint, nowMs: number): Map<Kind, Series> {
    const number = Buffer.alloc(SEQ_BYTES);
    number.writeBigUInt64BE(seq);
    const seen = keys.map((key) => this.#seen(accountId, key));
    for (const [i, one] of seen.entries()) {
      one.isChanged = true;
      one.series.add(SIGHTINGS, nowMs);
      one.recent = Buffer.concat([one.recent, number]).subarray(-RECENT_DECISIONS * SEQ_BYTES);
      for (const other of seen.slice(i + 1)) countTogether(one, other, nowMs);
    }
    return new Map(seen.map(({ key, series }) => [kindOf(key), series]));
  }

  changed(): WindowRow[] {
    const changed = [...this.#keys.values()].filter(({ isChanged }) => isChanged);
    return changed.map(({ accountId, key, series, partners, recent }) => ({
      ...{ account_id: accountId, key, series: series.encode(), partners: partners.bytes, recent },
    }));
  }

  #seen(accountId: string, key: Buffer): Seen {
    const id = keyId(accountId, key);
    const known = this.#keys.get(id) ?? {
      ...{ accountId, key, series: Series.empty(), partners: new Partners(NOTHING) },
      ...{ recent: NOTHING, isChanged: false },
    };
    this.#keys.set(id, known);
    return known;
  }
}

/** Each counts the other in the step of now alone. */
function countTogether(a: Seen, b: Seen, nowMs: number): void {
  const second = Math.floor(nowMs / 1_000);
  const last = a.partners.secondOf(b.key) ?? b.partners.secondOf(a.key);
  // A second time within a step changes nothing.
  if (last === second) return;
  const [lineA, lineB] = [a.key[0] as number, b.key[0] as number];
  // An entry of 30 days ago counts no more, though it may still be there.
  if (last !== null && last > second - KEEP_SECONDS) {
    a.series.add(lineB, last * 1_000, -1);
    b.series.add(lineA, last * 1_000, -1);
  }
  a.series.add(lineB, nowMs);
  b.series.add(lineA, nowMs);
  link(a, b, second);
}

/**
 * Keeps when the two were last seen together. An entry in either row is enough, for a call reads both. Each row has it while it has few of that
 * kind, so that a key shows whom it was seen with. Of two that have many, the one with fewer has it: the user, not the address of a whole
 * town. So a row needs n²/2 calls of other keys for n entries beyond the few.
 */
function link(a: Seen, b: Seen, second: number): void {
  const [isInA, isInB] = [a.partners.move(b.key, second), b.partners.move(a.key, second)];
  if (isInA && isInB) return;
  const ofA = a.partners.countSince(b.key[0] as number, second - KEEP_SECONDS);
  const ofB = b.partners.countSince(a.key[0] as number, second - KEEP_SECONDS);
  if (!isInA && (ofA < LINKED_KEYS || (!isInB && ofA <= ofB))) a.partners.add(b.key, second);
  if (!isInB && (ofB < LINKED_KEYS || (!isInA && ofB < ofA))) b.partners.add(a.key, second);
}

/** Numbers of a key's latest decisions, the newest first. */
export function recentSeqs(recent: Buffer): bigint[] {
  return Array.from({ length: recent.length / SEQ_BYTES }, (_, i) => recent.readBigUInt64BE(i * SEQ_BYTES)).reverse();
}
