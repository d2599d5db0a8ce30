// Counts of keys within one commit: starts from the stored rows, then adds one call after the other.
import { KEEP_SECONDS, LINKED_KEYS, RECENT_DECISIONS } from '../limits.ts';
import { type Kind, kindOf } from '../signals/keys.ts';
import { Partners } from '../signals/partners.ts';
import { Series, SIGHTINGS } from '../signals/series.ts';
import { type ChangedWindow, SEQ_BYTES, type WindowRow } from './store.ts';

interface Seen {
  readonly accountId: string;
  readonly key: Buffer;
  readonly series: Series;
  readonly partners: Partners;
  /** Numbers of the decisions of this commit. */
  readonly seqs: bigint[];
}

const keyId = (accountId: string, key: Buffer) => `${accountId} ${key.toString('latin1')}`;

export class Tally {
  readonly #keys: Map<string, Seen>;

  constructor(rows: readonly WindowRow[]) {
    this.#keys = new Map(
      rows.map(({ account_id: accountId, key, series, partners }) => [
        keyId(accountId, key),
        { accountId, key, series: Series.decode(series), partners: new Partners(partners), seqs: [] },
      ]),
    );
  }

  /** Counts a call, and answers the series of its keys, by their kinds. */
  count(accountId: string, keys: readonly Buffer[], seq: bigint, nowMs: number): Map<Kind, Series> {
    const seen = keys.map((key) => this.#windowOf(accountId, key));
    seen.forEach((one, i) => {
      one.seqs.push(seq);
      one.series.add(SIGHTINGS, nowMs);
      for (let j = i + 1; j < seen.length; j += 1) countTogether(one, seen[j] as Seen, nowMs);
    });
    return new Map(seen.map(({ key, series }) => [kindOf(key), series]));
  }

  changedWindows(): ChangedWindow[] {
    const changed = [...this.#keys.values()].filter(({ seqs }) => seqs.length > 0);
    return changed.map(({ accountId, key, series, partners, seqs }) => ({
      account_id: accountId,
      key,
      series: series.encode(),
      partners: partners.changed,
      seqs: seqBytes(seqs.slice(-RECENT_DECISIONS)),
    }));
  }

  #windowOf(accountId: string, key: Buffer): Seen {
    const id = keyId(accountId, key);
    let seen = this.#keys.get(id);
    if (seen === undefined) {
      seen = { accountId, key, series: Series.empty(), partners: new Partners(), seqs: [] };
      this.#keys.set(id, seen);
    }
    return seen;
  }
}

/** Each counts the other in the step of now alone. */
function countTogether(a: Seen, b: Seen, nowMs: number): void {
  const second = Math.floor(nowMs / 1_000);
  const [lastInA, lastInB] = [a.partners.move(b.key, second), b.partners.move(a.key, second)];
  const last = lastInA ?? lastInB;
  // A second time within a step changes nothing.
  if (last === second) return;
  const [lineA, lineB] = [a.key[0] as number, b.key[0] as number];
  // An entry of 30 days ago counts no more, though it may still be there.
  if (last !== null && last > second - KEEP_SECONDS) {
    a.series.move(lineB, last * 1_000, nowMs);
    b.series.move(lineA, last * 1_000, nowMs);
  } else {
    a.series.add(lineB, nowMs);
    b.series.add(lineA, nowMs);
  }
  if (lastInA === null || lastInB === null) link(a, b, { second, isInA: lastInA !== null, isInB: lastInB !== null });
}

/**
 * Keeps when the two were last seen together. An entry in either row is enough, for a call reads both. Each row has it while it has few of that
 * kind, so that a key shows whom it was seen with. Of two that have many, the one with fewer has it: the user, not the address of a whole
 * town. So a row needs n²/2 calls of other keys for n entries beyond the few.
 */
function link(a: Seen, b: Seen, { second, isInA, isInB }: { second: number; isInA: boolean; isInB: boolean }): void {
  const ofA = a.partners.countSince(b.key[0] as number, second - KEEP_SECONDS);
  const ofB = b.partners.countSince(a.key[0] as number, second - KEEP_SECONDS);
  if (!isInA && (ofA < LINKED_KEYS || (!isInB && ofA <= ofB))) a.partners.add(b.key, second);
  if (!isInB && (ofB < LINKED_KEYS || (!isInA && ofB < ofA))) b.partners.add(a.key, second);
}

function seqBytes(seqs: readonly bigint[]): Buffer {
  const bytes = Buffer.allocUnsafe(seqs.length * SEQ_BYTES);
  for (const [i, seq] of seqs.entries()) bytes.writeBigUInt64BE(seq, i * SEQ_BYTES);
  return bytes;
}

/** Numbers of a key's latest decisions, the newest first. */
export function recentSeqs(recent: Buffer): bigint[] {
  return Array.from({ length: recent.length / SEQ_BYTES }, (_, i) => recent.readBigUInt64BE(i * SEQ_BYTES)).reverse();
}
