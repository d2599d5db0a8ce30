// Summary of a block, for counts without reading its events: their number by name, hour and kind (bots or not). Events without a person are not
// counted.

import { SUMMARY_BYTES_MAX } from '../../../blocks/block.ts';
import { ByteReader, ByteWriter } from '../../../blocks/bytes.ts';
import { HOUR_MS } from '../../../lib/time.ts';

/** Hours of a name are told apart by 25 of them: a block lies within a day. */
const HOURS = 64;

/** Empty when it would be too long: then the block must be read. */
export function packSummary(
  times: ArrayLike<number>,
  names: readonly string[],
  nameOf: ArrayLike<number>,
  bots: ArrayLike<number>,
  persons: ArrayLike<number>,
): Buffer {
  const firstHour = Math.floor((times[0] as number) / HOUR_MS);
  const cells = new Map<number, number>();
  for (let i = 0; i < times.length; i += 1) {
    if (persons[i] === 0) continue;
    const hour = Math.floor((times[i] as number) / HOUR_MS) - firstHour;
    const key = ((nameOf[i] as number) * HOURS + hour) * 2 + (bots[i] as number);
    cells.set(key, (cells.get(key) ?? 0) + 1);
  }
  const out = new ByteWriter();
  const used = new Map<number, number>();
  for (const key of cells.keys()) {
    const name = Math.floor(key / 2 / HOURS);
    if (!used.has(name)) used.set(name, used.size);
  }
  out.varint(firstHour);
  out.varint(used.size);
  for (const name of used.keys()) {
    const text = names[name] as string;
    out.varint(Buffer.byteLength(text));
    out.text(text);
    if (out.length > SUMMARY_BYTES_MAX) return Buffer.alloc(0);
  }
  out.varint(cells.size);
  for (const [key, count] of cells) {
    const name = Math.floor(key / 2 / HOURS);
    out.varint((used.get(name) as number) * HOURS * 2 + (key % (HOURS * 2)));
    out.varint(count);
    if (out.length > SUMMARY_BYTES_MAX) return Buffer.alloc(0);
  }
  return Buffer.from(out.writtenBytes());
}

export function eachCount(
  packed: Uint8Array,
  see: (name: string, hourMs: number, isBot: boolean, events: number) => void,
): void {
  const source = new ByteReader(packed);
  const firstHour = source.varint();
  const names: string[] = [];
  for (let left = source.varint(); left > 0; left -= 1) names.push(source.bytes(source.varint()).toString('utf8'));
  for (let left = source.varint(); left > 0; left -= 1) {
    const key = source.varint();
    const hour = Math.floor(key / 2) % HOURS;
    const name = names[Math.floor(key / 2 / HOURS)] as string;
    see(name, (firstHour + hour) * HOUR_MS, key % 2 === 1, source.varint());
  }
}
