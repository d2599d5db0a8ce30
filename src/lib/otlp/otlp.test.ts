// Protobuf and JSON are read to the same values; what is cut, overlong or too deep is refused, never misread.
import fc from 'fast-check';
import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { anyValueOf, attributesOf, hexIdOf, nanosAsMs } from './json.ts';
import { bytesTag, readAnyValue, readAttributes, readNanosAsMs, readProtobuf } from './protobuf.ts';
import { DEPTH_MAX, OtlpBudget, OtlpError, type OtlpValue } from './values.ts';

type Pair = readonly [string, OtlpValue];

function writeValue(out: protobuf.Writer, value: OtlpValue): protobuf.Writer {
  if (value === null) return out;
  if (typeof value === 'string') return out.uint32(bytesTag(1)).string(value);
  if (typeof value === 'boolean') return out.uint32(2 << 3).bool(value);
  if (typeof value === 'number') {
    return Number.isInteger(value) ? out.uint32(3 << 3).int64(value) : out.uint32((4 << 3) | 1).double(value);
  }
  if (Array.isArray(value)) {
    out.uint32(bytesTag(5)).fork();
    for (const each of value) writeValue(out.uint32(bytesTag(1)).fork(), each).ldelim();
    return out.ldelim();
  }
  return writePairs(out.uint32(bytesTag(6)).fork(), Object.entries(value)).ldelim();
}

function writePairs(out: protobuf.Writer, pairs: readonly Pair[]): protobuf.Writer {
  for (const [name, value] of pairs) {
    out.uint32(bytesTag(1)).fork().uint32(bytesTag(1)).string(name);
    writeValue(out.uint32(bytesTag(2)).fork(), value)
      .ldelim()
      .ldelim();
  }
  return out;
}

function jsonOf(value: OtlpValue): object {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(jsonOf) } };
  return { kvlistValue: { values: pairsOf(Object.entries(value)) } };
}

const pairsOf = (pairs: readonly Pair[]) => pairs.map(([key, value]) => ({ key, value: jsonOf(value) }));

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const { value } = fc.letrec<{ value: OtlpValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.constant(null)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((each) => !Number.isInteger(each)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('value'), { maxKeys: 4 }),
  ),
}));
const attributes = fc.uniqueArray(fc.tuple(text, value), { maxLength: 5, selector: ([name]) => name });
const bytesOf = (pairs: readonly Pair[]) => Buffer.from(writePairs(protobuf.Writer.create(), pairs).finish());
const read = (body: Uint8Array) =>
  readProtobuf(body, (reader, end, budget) => readAttributes(reader, end, bytesTag(1), budget));

test('protobuf and JSON are read to the same attributes', () => {
  fc.assert(
    fc.property(attributes, (pairs) => {
      const plain = (map: Map<string, OtlpValue>) => JSON.stringify([...map]);
      expect(plain(read(bytesOf(pairs)))).toBe(JSON.stringify(pairs));
      expect(plain(attributesOf(pairsOf(pairs), 'attributes', new OtlpBudget()))).toBe(JSON.stringify(pairs));
    }),
  );
});

test('bytes that are changed or cut are refused or read, and nothing else is thrown', () => {
  fc.assert(
    fc.property(attributes, fc.nat(), fc.nat(255), fc.boolean(), (pairs, at, byte, isCut) => {
      const body = bytesOf(pairs);
      if (body.length === 0) return;
      const place = at % body.length;
      const broken = isCut ? body.subarray(0, place) : Buffer.from(body).fill(byte, place, place + 1);
      try {
        read(broken);
      } catch (error) {
        expect(error).toBeInstanceOf(OtlpError);
      }
    }),
  );
});

test('values are nested so deep and no deeper', () => {
  const nested = (levels: number): OtlpValue => (levels === 0 ? 1 : [nested(levels - 1)]);
  const both = (levels: number) => {
    const body = Buffer.from(writeValue(protobuf.Writer.create(), nested(levels)).finish());
    return [
      () => readProtobuf(body, (reader, end, budget) => readAnyValue(reader, end, budget)),
      () => anyValueOf(jsonOf(nested(levels)), new OtlpBudget()),
    ];
  };
  for (const each of both(DEPTH_MAX)) expect(each()).toEqual(nested(DEPTH_MAX));
  for (const each of both(DEPTH_MAX + 1)) expect(each).toThrow(OtlpError);
});

test.each<[string, number[], string]>([
  ['a length beyond the body', [0x0a, 0x7f, 0x01], 'longer than'],
  [
    'a message longer than the one that holds it',
    [0x0a, 0x02, 0x0a, 0x05, 0x61, 0x61, 0x61, 0x61, 0x61],
    'longer than',
  ],
  ['a varint without an end', [0x0a, ...Array.from({ length: 12 }, () => 0xff)], 'not valid protobuf'],
  ['field number 0', [0x02, 0x00], 'field number 0'],
  ['a group without an end', [0x0b, 0x0b, 0x0b], 'not valid protobuf'],
])('%s is refused', (_name, bytes, message) => {
  expect(() => read(Buffer.from(bytes))).toThrow(message);
});

test('a known field of another wire type is passed over', () => {
  expect([...read(Buffer.from([0x08, 0x05]))]).toEqual([]);
});

test('times are whole milliseconds, whatever their nanoseconds', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (nanos) => {
      const body = Buffer.alloc(8);
      body.writeBigUInt64LE(nanos);
      expect(readProtobuf(body, readNanosAsMs)).toBe(Number(nanos / 1_000_000n));
    }),
  );
});

test('numbers, times and IDs', () => {
  expect(anyValueOf({ intValue: '9223372036854775807' }, new OtlpBudget())).toBe('9223372036854775807');
  expect(anyValueOf({ intValue: 5 }, new OtlpBudget())).toBe(5);
  expect(anyValueOf({ doubleValue: 'NaN' }, new OtlpBudget())).toBe('NaN');
  expect(nanosAsMs('1764252000123456789', 't')).toBe(1_764_252_000_123);
  expect(nanosAsMs(1_764_252_000_123_000_000, 't')).toBe(1_764_252_000_123);
  expect(hexIdOf('5B8EFFF798038103D269B633813FC60C', 'traceId', 32)).toBe('5b8efff798038103d269b633813fc60c');
  expect(hexIdOf('', 'traceId', 32)).toBeNull();
  expect(() => hexIdOf('xyz', 'traceId', 32)).toThrow('traceId must be 32 hexadecimal digits');
});
