import { expect, test } from 'vitest';
import { readInlineBytes } from './inline-bytes.ts';

const shown = (sent: string) => {
  const read = readInlineBytes(sent);
  return read === null ? null : [Buffer.from(read.bytes).toString(), read.contentType];
};

test('base64, base64url and data URLs are read, with and without padding', () => {
  expect(shown('aGk=')).toEqual(['hi', null]);
  expect(shown('aGk')).toEqual(['hi', null]);
  expect(Buffer.from(readInlineBytes('_-8')?.bytes ?? [])).toEqual(Buffer.from([0xff, 0xef]));
  expect(shown('data:Application/PDF;base64,aGk=')).toEqual(['hi', 'application/pdf']);
  expect(shown('data:text/plain;charset=utf-8;base64,aGk=')).toEqual(['hi', 'text/plain']);
});

test('what is neither is none: spaces, rests of one character, padding inside, data URLs without base64', () => {
  for (const sent of ['', '====', 'a', 'aGk=aGk=', 'aG k', 'data:text/plain,hi', 'data:;base64,', 'aGk\n'])
    expect(readInlineBytes(sent), sent).toBeNull();
});

test('the bytes are in memory of their own', () => {
  const read = readInlineBytes('aGk=');
  expect(read?.bytes.buffer.byteLength).toBe(2);
});
