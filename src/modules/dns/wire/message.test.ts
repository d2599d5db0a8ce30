import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { framesOf } from './frames.ts';
import {
  headerBytes,
  nameAt,
  nameBytes,
  optRecord,
  questionBytes,
  readMessage,
  recordBody,
  TYPES,
  uint16s,
} from './message.ts';
import { rdataText } from './rdata.ts';

const question = questionBytes('a.test', TYPES.A);
const messageWith = (type: number, rdata: Buffer) =>
  Buffer.concat([
    headerBytes({ id: 7, flags: 0x8000, questions: 1, answers: 1, additional: 1 }),
    question,
    ...[Buffer.of(0xc0, 12), recordBody(type, 300, rdata)],
    optRecord(1_232, 16),
  ]);
const textOf = (type: number, rdata: Buffer) => {
  const bytes = messageWith(type, rdata);
  return readMessage(bytes).answers.map((record) => rdataText(bytes, record));
};

test('what is written is read: question, records, and EDNS with the bits of its code', () => {
  const bytes = messageWith(TYPES.A, Buffer.of(192, 0, 2, 1));
  const message = readMessage(bytes);
  expect(message.header).toEqual({ id: 7, flags: 0x8000, questions: 1, answers: 1, authority: 0, additional: 1 });
  expect(message.questions).toMatchObject([{ name: 'a.test', type: 1, class: 1, endAt: 12 + question.length }]);
  expect(message.answers).toMatchObject([{ name: 'a.test', type: 1, class: 1, ttl: 300 }]);
  expect(message.additional).toMatchObject([{ name: '.', type: 41, class: 1_232, ttl: 0x01000000 }]);
  expect(readMessage(bytes, 1)).toMatchObject({ answers: [{ name: 'a.test' }], additional: [] });
  expect(readMessage(bytes, 0).answers).toEqual([]);
});

test.each([
  ['A', Buffer.of(192, 0, 2, 1), '192.0.2.1'],
  ['AAAA', Buffer.from('20010db8000000000000000000000001', 'hex'), '2001:db8::1'],
  ['CNAME', Buffer.of(0xc0, 12), 'a.test'],
  ['NS', nameBytes('.'), '.'],
  ['MX', Buffer.concat([uint16s(10), nameBytes('mail.test')]), '10 mail.test'],
  ['SRV', Buffer.concat([uint16s(1, 2, 5_060), nameBytes('sip.test')]), '1 2 5060 sip.test'],
  ['TXT', Buffer.from('\x02ab\x00\x01c', 'latin1'), 'abc'],
  ['CAA', Buffer.from('\x00\x05issuea.test', 'latin1'), '0 issue "a.test"'],
  [
    'SOA',
    Buffer.concat([nameBytes('ns.test'), nameBytes('.'), Buffer.alloc(20, 1)]),
    `ns.test .${' 16843009'.repeat(5)}`,
  ],
  ['DS', Buffer.of(1, 255), '\\# 2 01ff'],
] as const)('%s is read as zone files have it, and refused where it is cut', (type, rdata, text) => {
  expect(textOf(TYPES[type], rdata)).toEqual([text]);
  if (type === 'DS') return;
  // A text ends where its record ends: shortened by a whole piece it is another one.
  const cut = type === 'TXT' ? 1 : rdata.length - 1;
  const isWhole = type === 'CAA';
  expect(() => textOf(TYPES[type], isWhole ? rdata.subarray(0, 4) : rdata.subarray(0, cut))).toThrow();
});

describe('a name', () => {
  test('comes out in lower case, and what no label may have as a question mark', () => {
    const bytes = Buffer.from('\x04A.b\\\x03\xe9 c\x04Test\x00', 'latin1');
    expect(nameAt(bytes, 0)).toEqual({ name: 'a?b?.??c.test', endAt: bytes.length });
  });

  test('leads backwards only, and nowhere where pointers are refused', () => {
    const bytes = Buffer.concat([nameBytes('a.test'), Buffer.of(1, 0x62, 0xc0, 0), Buffer.of(0xc0, 12, 0xc0)]);
    expect(nameAt(bytes, 8)).toEqual({ name: 'b.a.test', endAt: 12 });
    expect(nameAt(bytes, 8, 'refused')).toBeNull();
    expect(nameAt(bytes, 12)).toBeNull();
    expect(nameAt(bytes, 14)).toBeNull();
    expect(nameAt(Buffer.of(0xc0, 2, 0xc0, 0), 2)).toBeNull();
  });

  test('has 255 bytes at most, and labels of 63', () => {
    const long = nameBytes(`${'a.'.repeat(126)}a`);
    expect(long).toHaveLength(255);
    expect(nameAt(long, 0)?.endAt).toBe(255);
    expect(nameAt(Buffer.concat([Buffer.of(1, 0x61), long]), 0)).toBeNull();
    expect(nameAt(Buffer.concat([long, Buffer.of(1, 0x61, 0xc0, 0)]), 255)).toBeNull();
    expect(nameAt(Buffer.concat([Buffer.of(64), Buffer.alloc(64, 0x61), Buffer.of(0)]), 0)).toBeNull();
    expect(nameAt(Buffer.of(3, 0x61, 0x62), 0)).toBeNull();
  });
});

test('a message of random bytes is read or refused, and never read beyond', () => {
  const bytes = messageWith(TYPES.A, Buffer.of(192, 0, 2, 1));
  for (let length = 0; length < bytes.length; length += 1)
    expect(() => readMessage(bytes.subarray(0, length))).toThrow();
  for (let made = 0; made < 20_000; made += 1) {
    const hostile = randomBytes(12 + (made % 80));
    hostile.writeUInt16BE(made % 3, 4);
    hostile.writeUInt16BE(made % 2, 6);
    try {
      const { answers } = readMessage(hostile, 100);
      for (const record of answers) rdataText(hostile, record);
    } catch (error) {
      expect((error as Error).name).toBe('Malformed');
    }
  }
});

test('frames come out whole however they arrive; one that is too long ends them', async () => {
  const sent = Buffer.concat([uint16s(2), Buffer.from('ab'), uint16s(0), uint16s(3), Buffer.from('cde'), uint16s(9)]);
  async function* pieces(size: number) {
    for (let at = 0; at < sent.length; at += size) yield sent.subarray(at, at + size);
  }
  for (const size of [1, 2, 3, 100]) {
    const found: string[] = [];
    for await (const message of framesOf(pieces(size))) found.push(message.toString());
    expect(found).toEqual(['ab', '', 'cde']);
  }
  expect(await Array.fromAsync(framesOf(pieces(100), 2))).toEqual([Buffer.from('ab'), Buffer.alloc(0)]);
});
