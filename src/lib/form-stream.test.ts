// Forms as they arrive: however they are cut into blocks, and whatever is wrong with them.
import { describe, expect, test } from 'vitest';
import { boundaryOf, FormError, FormStream } from './form-stream.ts';

const part = (name: string, value: string, more = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const FORM = `${part('key', 'a')}${part('x', '\r\n--c\r\n--')}${part('file', 'so\r\n--\r\n-b\r\n--', '; filename="é.txt"\r\nContent-Type: text/plain')}${part('late', 'x')}--b--\r\n`;

async function* blocks(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(text: string, size = 16, bounds = { bytesMax: 1_000, partsMax: 5 }) {
  const form = new FormStream(blocks(text, size), 'b', bounds);
  const fields: [string, string][] = [];
  let part = await form.first();
  while (part !== null && part.name !== 'file') {
    const { value, next } = await form.field();
    fields.push([part.name, value]);
    part = next;
  }
  if (part === null) return { fields, file: null };
  const file: Buffer[] = [];
  const passed = form.passed;
  for await (const block of form.file()) file.push(block);
  await form.drain(200);
  return { fields, filename: part.filename, type: part.contentType, file: Buffer.concat(file).toString(), passed };
}

describe('a form', () => {
  test.each([1, 2, 3, 7, 16, 64, 10_000])('in blocks of %d bytes', async (size) => {
    expect(await readAll(FORM, size)).toEqual({
      fields: [
        ['key', 'a'],
        ['x', '\r\n--c\r\n--'],
      ],
      filename: 'é.txt',
      type: 'text/plain',
      file: 'so\r\n--\r\n-b\r\n--',
      passed: Buffer.from(FORM).indexOf('so\r\n'),
    });
  });

  test('without a file has none', async () => {
    expect(await readAll(`${part('key', '')}--b--`)).toEqual({ fields: [['key', '']], file: null });
  });

  test.each<[string, string, string]>([
    ['that is empty', '', 'malformed'],
    ['that begins otherwise', `x${FORM}`, 'malformed'],
    ['that is cut in a field', FORM.slice(0, 60), 'malformed'],
    ['that is cut in its file', FORM.slice(0, FORM.indexOf('so\r\n') + 3), 'malformed'],
    ['whose boundary goes on', FORM.replace('--b\r\n', '--b  \r\n'), 'malformed'],
    ['with a field without a name', `--b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--`, 'malformed'],
    ['with a head that does not end', `--b\r\n${'x: y\r\n'.repeat(2_000)}`, 'malformed'],
    ['with a field that does not end', `${part('a', 'b').slice(0, -2)}${'x'.repeat(2_000)}`, 'too_long'],
    ['with many fields', part('a', '').repeat(6), 'too_long'],
    ['with long fields', part('a', 'x'.repeat(400)).repeat(3), 'too_long'],
    ['that goes on behind its file', `${part('file', 'x')}--b\r\n${'y'.repeat(300)}`, 'too_long'],
  ])('%s is refused', async (_, text, reason) => {
    const failed = await readAll(text).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(FormError);
    expect(failed).toMatchObject({ reason });
  });

  test('with a field that is not UTF-8 is refused', async () => {
    const bytes = Buffer.concat([
      Buffer.from(part('a', '').slice(0, -2)),
      Buffer.from([0xff]),
      Buffer.from('\r\n--b--'),
    ]);
    const source = (async function* () {
      yield bytes;
    })();
    const form = new FormStream(source, 'b', { bytesMax: 1_000, partsMax: 5 });
    await form.first();
    await expect(form.field()).rejects.toMatchObject({ reason: 'malformed' });
  });
});

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; Boundary="a b:c"', 'a b:c'],
  ['multipart/form-data', null],
  [`multipart/form-data; boundary=${'a'.repeat(71)}`, 'a'.repeat(70)],
])('the boundary of %s', (header, boundary) => {
  expect(boundaryOf(header)).toBe(boundary);
});
