// What keys were seen how often, as one commit counts its calls: rows as they were read, then one call after the other.
import { DAY_MS } from '../../../lib/time.ts';
import { KEEP_DAYS, RECENT_DECISIONS } from '../limits.ts';
import { placeOf } from '../signals/keys.ts';
import { lineOf, Series, SIGHTINGS } from '../signals/series.ts';
import type { OwnedKey, OwnedPair, PairRow, SavedWindow, WindowRow } from './store.ts';

interface Seen extends OwnedKey {
  readonly series: Series;
  recent: Buffer;
  isChanged: boolean;
}

interface Together extends OwnedPair {
  /** Null: never, as far as is kept. */
  lastMs: number | null;
  isChanged: boolean;
}

const SEQ_BYTES = 8;
const keyId = (accountId: string, ...keys: readonly Buffer[]) =>
  `${accountId} ${keys.map((key) => key.toString('latin1')).join('')}`;

/** The pairs of a call's keys, that of the lower kind first. */
export function pairsOf(keys: readonly Buffer[]): [a: Buffer, b: Buffer][] {
  return keys.flatMap((a, i) => keys.slice(i + 1).map((b): [Buffer, Buffer] => [a, b]));
}

export class Tally {
  readonly #keys: Map<string, Seen>;
  readonly #pairs: Map<string, Together>;

  constructor(windows: readonly WindowRow[], pairs: readonly PairRow[]) {
    this.#keys = new Map(
      windows.map(({ account_id: accountId, key, series, recent }) => [
        keyId(accountId, key),
        { accountId, key, series: Series.decode(series), recent, isChanged: false },
      ]),
    );
    this.#pairs = new Map(
      pairs.map(({ account_id: accountId, a, b, last_at: lastMs }) => [
        keyId(accountId, a, b),
        { accountId, a, b, lastMs, isChanged: false },
      ]),
    );
  }

  /** Counts a call, and answers the series of its keys. */
  count(accountId: string, keys: readonly Buffer[], seq: bigint, nowMs: number): Series[] {
    const number = Buffer.alloc(SEQ_BYTES);
    number.writeBigUInt64BE(seq);
    const seen = keys.map((key) => this.#seen(accountId, key));
    for (const one of seen) {
      one.isChanged = true;
      one.series.add(SIGHTINGS, nowMs);
      one.recent = Buffer.concat([one.recent, number]).subarray(-RECENT_DECISIONS * SEQ_BYTES);
    }
    for (const [a, b] of pairsOf(keys)) {
      const pair = this.#together(accountId, a, b);
      // Every step is of whole seconds: a second time within one changes nothing.
      if (pair.lastMs !== null && Math.floor(pair.lastMs / 1_000) === Math.floor(nowMs / 1_000)) continue;
      const [ofA, ofB] = [this.#seen(accountId, a).series, this.#seen(accountId, b).series];
      const [lineA, lineB] = [lineOf(placeOf(b)), lineOf(placeOf(a))];
      // Rows that are not swept yet are as good as gone.
      if (pair.lastMs !== null && pair.lastMs > nowMs - KEEP_DAYS * DAY_MS) {
        ofA.add(lineA, pair.lastMs, -1);
        ofB.add(lineB, pair.lastMs, -1);
      }
      ofA.add(lineA, nowMs);
      ofB.add(lineB, nowMs);
      pair.lastMs = nowMs;
      pair.isChanged = true;
    }
    return seen.map(({ series }) => series);
  }

  windows(): SavedWindow[] {
    const changed = [...this.#keys.values()].filter(({ isChanged }) => isChanged);
    return changed.map(({ accountId, key, series, recent }) => ({ accountId, key, series: series.encode(), recent }));
  }

  pairs(): OwnedPair[] {
    return [...this.#pairs.values()].filter(({ isChanged }) => isChanged);
  }

  #seen(accountId: string, key: Buffer): Seen {
    const id = keyId(accountId, key);
    const known = this.#keys.get(id) ?? {
      ...{ accountId, key, series: Series.empty() },
      ...{ recent: Buffer.alloc(0), isChanged: false },
    };
    this.#keys.set(id, known);
    return known;
  }

  #together(accountId: string, a: Buffer, b: Buffer): Together {
    const id = keyId(accountId, a, b);
    const known = this.#pairs.get(id) ?? { accountId, a, b, lastMs: null, isChanged: false };
    this.#pairs.set(id, known);
    return known;
  }
}

/** Numbers of a key's latest decisions, the newest first. */
export function recentSeqs(recent: Buffer): bigint[] {
  return Array.from({ length: recent.length / SEQ_BYTES }, (_, i) => recent.readBigUInt64BE(i * SEQ_BYTES)).reverse();
}
