// Partners of a key: other keys that appear in its calls, each with the second when the two were last seen together. An entry has 20 bytes: the
// partner's key and that second, in no order. Entries are searched and changed as bytes, never decoded.
import { KEY_BYTES } from './keys.ts';

const ENTRY_BYTES = KEY_BYTES + 4;
const NOTHING = Buffer.alloc(0);

export class Partners {
  #bytes: Buffer;
  #isChanged = false;
  /** By kind: the calls of a commit ask for them again and again. */
  readonly #counts = new Map<number, number>();

  /** Changes the bytes that it is given. */
  constructor(bytes: Buffer = NOTHING) {
    this.#bytes = bytes;
  }

  /** All entries; none when they are as they were. */
  get changed(): Buffer {
    return this.#isChanged ? this.#bytes : NOTHING;
  }

  /** Moves the entry of `key` to `second`. Answers the second it had; null: it has no entry here. */
  move(key: Buffer, second: number): number | null {
    const at = this.#find(key);
    if (at < 0) return null;
    const last = this.#bytes.readUInt32BE(at + KEY_BYTES);
    if (last === second) return last;
    this.#bytes.writeUInt32BE(second, at + KEY_BYTES);
    this.#isChanged = true;
    return last;
  }

  add(key: Buffer, second: number): void {
    const entry = Buffer.alloc(ENTRY_BYTES, key);
    entry.writeUInt32BE(second, KEY_BYTES);
    this.#bytes = Buffer.concat([this.#bytes, entry]);
    this.#isChanged = true;
    const count = this.#counts.get(key[0] as number);
    if (count !== undefined) this.#counts.set(key[0] as number, count + 1);
  }

  /**
   * How many are of one kind, by the byte that their keys begin with, once those of `firstSecond` and before are dropped: in one commit the same
   * second.
   */
  countSince(kindByte: number, firstSecond: number): number {
    const known = this.#counts.get(kindByte);
    if (known !== undefined) return known;
    let [count, hasOld] = [0, false];
    for (let at = 0; at < this.#bytes.length; at += ENTRY_BYTES) {
      if (this.#bytes.readUInt32BE(at + KEY_BYTES) <= firstSecond) hasOld = true;
      else if (this.#bytes[at] === kindByte) count += 1;
    }
    if (hasOld) this.#bytes = Buffer.concat(this.#since(firstSecond));
    this.#counts.set(kindByte, count);
    return count;
  }

  /** Those of one kind that were seen after `firstSecond`. */
  keysSince(kindByte: number, firstSecond: number): Buffer[] {
    return this.#since(firstSecond).flatMap((entry) => (entry[0] === kindByte ? [entry.subarray(0, KEY_BYTES)] : []));
  }

  #since(firstSecond: number): Buffer[] {
    const entries = Array.from({ length: this.#bytes.length / ENTRY_BYTES }, (_, i) =>
      this.#bytes.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES),
    );
    return entries.filter((entry) => entry.readUInt32BE(KEY_BYTES) > firstSecond);
  }

  #find(key: Buffer): number {
    let at = this.#bytes.indexOf(key);
    // A match across two entries is no key.
    while (at % ENTRY_BYTES > 0) at = this.#bytes.indexOf(key, at + 1);
    return at;
  }
}
