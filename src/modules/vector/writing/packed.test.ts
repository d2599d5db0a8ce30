import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfPrefix } from '../items/store.ts';
import { embeddingAt, metadataAt, packVectors } from './packed.ts';

const numbersOf = (bytes: Buffer) => [...new Float32Array(new Uint8Array(bytes).buffer)];

describe('packVectors', () => {
  it('keeps the last of each id, its embedding and its metadata, whatever the lengths', () => {
    const id = fc.integer({ min: 0, max: 5 }).map(String);
    const embedding = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 6 });
    const metadata = fc.option(fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }), { nil: null });
    fc.assert(
      fc.property(fc.array(fc.record({ id, embedding, metadata }), { minLength: 1, maxLength: 20 }), (sent) => {
        const packed = packVectors(sent);
        const last = new Map(sent.map((vector) => [vector.id, vector]));
        expect([...packed.ids].sort()).toEqual([...last.keys()].sort());
        for (const [i, id] of packed.ids.entries()) {
          expect(numbersOf(embeddingAt(packed, i))).toEqual(last.get(id)?.embedding);
          expect(JSON.parse(metadataAt(packed, i)?.toString() ?? 'null')).toEqual(last.get(id)?.metadata);
        }
        expect(packed.lengths).toEqual(sent.map(({ embedding }) => embedding.length));
      }),
    );
  });

  it('rounds each number once to 32 bits, from numbers as from base64', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -3e38, max: 3e38, noNaN: true }), { minLength: 1 }), (embedding) => {
        const base64 = Buffer.from(Float32Array.from(embedding).buffer).toString('base64');
        const packed = packVectors([
          { id: 'a', embedding },
          { id: 'b', embedding: base64 },
        ]);
        expect(numbersOf(embeddingAt(packed, 0))).toEqual(embedding.map(Math.fround));
        expect(embeddingAt(packed, 1)).toEqual(embeddingAt(packed, 0));
      }),
    );
  });

  it('takes base64 of whole numbers, and nothing else for it', () => {
    const character = fc.oneof(
      fc.constantFrom('-', '_', '=', ' ', '\n', '*', '+', '/', 'A', '\u{100}'),
      fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), character, fc.nat(300), (numbers, sent, place) => {
        const text = Buffer.alloc(numbers * 4, 1).toString('base64');
        const at = place % (text.length + 1);
        const changed = text.slice(0, at) + sent + text.slice(at + sent.length);
        const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(changed) && changed.length % 4 === 0;
        const isWhole = Buffer.from(changed, 'base64').length % 4 === 0;
        const pack = () => packVectors([{ id: 'a', embedding: changed }]);
        if (isBase64 && isWhole) expect(pack().lengths).toEqual([numbers]);
        else expect(pack).toThrow('must be base64');
      }),
      { numRuns: 2_000 },
    );
  });

  it('tells which are zero, those overwritten included', () => {
    const vector = (id: string, embedding: number[]) => ({ id, embedding });
    expect(packVectors([vector('a', [0]), vector('b', [1e-50, -0]), vector('a', [1])]).zeros).toEqual([0, 1]);
  });
});

describe('endOfPrefix', () => {
  it('is above every text with the prefix and below every other that is above it', () => {
    const point = fc.oneof(
      fc.constantFrom('a', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10ffff}', '\u{10fffe}'),
      fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
    );
    const text = fc
      .array(point, { maxLength: 4 })
      .map((points) => points.join(''))
      .filter((one) => one.isWellFormed());
    const below = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const end = endOfPrefix(prefix);
        expect(below(other, end) && !below(other, prefix)).toBe(other.startsWith(prefix));
        expect(below(prefix + other, end)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
