import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { chatBytesMax, parseVendorJson, readJson } from './asking.ts';

const MIB = 1024 * 1024;

test('an answer in one piece has as many bytes as its tokens may have, and at most 4 MiB', () => {
  const of = (outputTokensMax: number, body: object = {}) => chatBytesMax({ outputTokensMax, body: { ...body } });
  expect(of(1_000)).toBe(MIB + 64_000);
  expect(of(1_000, { n: 4 })).toBe(MIB + 256_000);
  expect(of(1_000, { logprobs: true, top_logprobs: 4 })).toBe(MIB + 1_064_000);
  expect(of(128_000, { n: 8 })).toBe(4 * MIB);
});

test('one that is longer, or breaks off, is none; its rest is not read', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1_000, '[');
    })(),
  );
  expect(await readJson(endless, 10_000)).toBeUndefined();
  expect(endless.destroyed).toBe(true);
  expect(await readJson(Readable.from([Buffer.from('{"a":')]), 100)).toBeUndefined();
  expect(await readJson(Readable.from([Buffer.from('{"a":'), Buffer.from('1}')]), 100)).toEqual({ a: 1 });
});

test('JSON of a vendor that nests too deep, or has too many parts for its size, is none', () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  const wide = `[${'[],'.repeat(200_001)}0]`;
  const members = `{${Array.from({ length: 300_001 }, (_, i) => `"${i}":0`)}}`;
  expect([deep, wide, members].map(parseVendorJson)).toEqual([undefined, undefined, undefined]);
  const logprobs = Array.from({ length: 20_000 }, () => ({ token: 'a', logprob: -1, bytes: [97] }));
  expect(parseVendorJson(JSON.stringify(logprobs))).toEqual(logprobs);
});
