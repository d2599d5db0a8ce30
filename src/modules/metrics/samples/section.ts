// Encoding of a section: chunks of many series as one column of a block, each with the ID of its series. A series may have several chunks; of
// two samples at one time, the one in the later chunk wins. IDs come first, so a query decodes only the chunks of its own series.
import { ByteReader, ByteWriter } from '../../../blocks/bytes.ts';
import { packBytes, unpackBytes } from '../../../blocks/columns.ts';
import { SERIES_ID_BYTES } from '../series/identity.ts';

/** Chunks one behind the other. IDs are binary text, a character a byte. */
export interface Section {
  readonly ids: readonly string[];
  readonly lengths: readonly number[];
  readonly chunks: Buffer;
}

export function packSection({ ids, lengths, chunks }: Section): Buffer {
  const out = new ByteWriter();
  out.varint(ids.length);
  out.bytes(Buffer.from(ids.join(''), 'latin1'));
  for (const length of lengths) out.varint(length);
  out.bytes(chunks);
  return packBytes(out.writtenBytes());
}

export function unpackSection(packed: Uint8Array): Section {
  const source = new ByteReader(unpackBytes(packed));
  const count = source.varint();
  const joined = source.bytes(count * SERIES_ID_BYTES).toString('latin1');
  const ids = Array.from({ length: count }, (_, i) => joined.slice(i * SERIES_ID_BYTES, (i + 1) * SERIES_ID_BYTES));
  const lengths = Array.from({ length: count }, () => source.varint());
  return { ids, lengths, chunks: source.rest() };
}

/** The chunks whose series `isWanted`, with the ID of each. */
export function* chunksOf(
  { ids, lengths, chunks }: Section,
  isWanted: (id: string) => boolean = () => true,
): Generator<readonly [id: string, chunk: Buffer]> {
  let at = 0;
  for (const [i, id] of ids.entries()) {
    const end = at + (lengths[i] as number);
    if (isWanted(id)) yield [id, chunks.subarray(at, end)];
    at = end;
  }
}

/** Those of both, in this order. */
export function joinSections(sections: readonly Section[]): Section {
  const [only] = sections;
  if (sections.length === 1 && only !== undefined) return only;
  return {
    ids: sections.flatMap(({ ids }) => ids),
    lengths: sections.flatMap(({ lengths }) => lengths),
    chunks: Buffer.concat(sections.map(({ chunks }) => chunks)),
  };
}

/** Without the chunks of some series. */
export function withoutSeries(section: Section, isLeftOut: (id: string) => boolean): Section {
  const kept = [...chunksOf(section, (id) => !isLeftOut(id))];
  return {
    ids: kept.map(([id]) => id),
    lengths: kept.map(([, chunk]) => chunk.length),
    chunks: Buffer.concat(kept.map(([, chunk]) => chunk)),
  };
}
