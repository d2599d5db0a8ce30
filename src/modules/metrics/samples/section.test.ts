import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chunksOf, joinSections, packSection, type Section, unpackSection, withoutSeries } from './section.ts';

const id = (n: number) => String.fromCharCode(n).repeat(16);
const sectionOf = (chunks: readonly (readonly [id: number, bytes: readonly number[]])[]): Section => ({
  ids: chunks.map(([n]) => id(n)),
  lengths: chunks.map(([, bytes]) => bytes.length),
  chunks: Buffer.from(chunks.flatMap(([, bytes]) => bytes)),
});
const listed = (section: Section, isWanted?: (of: string) => boolean) =>
  Array.from(chunksOf(section, isWanted), ([of, chunk]) => [of.charCodeAt(0), [...chunk]]);
/** Few series, so that one has several chunks; IDs of any byte. */
const chunks = fc.array(
  fc.tuple(fc.constantFrom(0, 1, 127, 128, 200, 255), fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 })),
  { maxLength: 40 },
);

it('unfolds to what was packed, chunk by chunk, empty ones too', () => {
  fc.assert(
    fc.property(chunks, (of) => {
      const section = unpackSection(packSection(sectionOf(of)));
      expect(section).toEqual(sectionOf(of));
      expect(listed(section)).toEqual(of);
    }),
  );
});

it('gives the chunks of the series that are wanted, in their order', () => {
  fc.assert(
    fc.property(chunks, (of) => {
      expect(listed(sectionOf(of), (each) => each === id(200))).toEqual(of.filter(([n]) => n === 200));
    }),
  );
});

it('joins sections one behind the other', () => {
  fc.assert(
    fc.property(fc.array(chunks, { maxLength: 4 }), (parts) => {
      expect(listed(joinSections(parts.map(sectionOf)))).toEqual(parts.flat());
    }),
  );
});

it('leaves series out, and what is packed then is a section again', () => {
  fc.assert(
    fc.property(chunks, (of) => {
      const kept = unpackSection(
        packSection(withoutSeries(sectionOf(of), (each) => each === id(0) || each === id(255))),
      );
      expect(listed(kept)).toEqual(of.filter(([n]) => n !== 0 && n !== 255));
    }),
  );
});
