import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { brotliCompressSync, constants, createGzip, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { formsOf } from './forms.ts';
import { SecretSearch } from './search.ts';
import { undoEncoding, withoutSecrets } from './undo.ts';

const TEXT = Buffer.from('one and two and three '.repeat(20_000));

async function read(encoding: string | undefined, ...pieces: Buffer[]): Promise<string> {
  const { body } = undoEncoding(encoding, Readable.from(pieces));
  return Buffer.concat(await body.toArray()).toString();
}

/** Not by once(), which would handle an error that nobody else does. */
function closeOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.on('close', resolve));
}

describe('an encoded body', () => {
  test.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['GZip', gzipSync(TEXT)],
    ['identity, gzip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    [' br ', brotliCompressSync(TEXT)],
    ['identity', TEXT],
    ['', TEXT],
    [undefined, TEXT],
  ])('%s is undone', async (encoding, body) => {
    expect(await read(encoding, body.subarray(0, 7), body.subarray(7))).toBe(TEXT.toString());
  });

  test.each(['gzip', 'br'])('an empty body of %s is empty', async (encoding) => {
    expect(await read(encoding)).toBe('');
  });

  test.each([
    ['gzip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
  ])('%s that is cut short or damaged fails', async (encoding, body) => {
    await expect(read(encoding, body.subarray(0, -1))).rejects.toThrow('unexpected end of file');
    await expect(read(encoding, body.subarray(0, 1))).rejects.toThrow('unexpected end of file');
    await expect(read(encoding, Buffer.from('not compressed at all'))).rejects.toThrow();
  });

  test.each(['deflate', 'zstd', 'compress', 'gzip, br', 'gzip, gzip', 'gzip;q=1', 'constructor', '*'])(
    '%s is unknown',
    (encoding) => {
      const body = Readable.from([TEXT]);
      expect(undoEncoding(encoding, body)).toEqual({ body, isUnknown: true });
    },
  );

  test('fails when what it comes from does', async () => {
    const source = new PassThrough();
    const { body } = undoEncoding('gzip', source);
    source.write(gzipSync(TEXT).subarray(0, 20));
    const failed = once(body, 'error');
    source.destroy(new Error('the socket was reset'));
    expect(await failed).toMatchObject([{ message: 'the socket was reset' }]);
  });

  test.each(['gzip', 'br'])('%s: who stops reading ends what it comes from', async (encoding) => {
    const source = new PassThrough();
    const { body } = undoEncoding(encoding, source);
    const closed = closeOf(source);
    body.destroy();
    await closed;
    expect(source.destroyed).toBe(true);
  });

  test('an event that was flushed is read before the next one is written', async () => {
    const events = createGzip({ flush: constants.Z_SYNC_FLUSH });
    const { body } = undoEncoding('gzip', events);
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      const [piece] = await Promise.all([once(body, 'data'), events.write(event)]);
      expect(String(piece)).toBe(event);
    }
    events.end();
    await once(body, 'end');
  });
});

describe('a body without its secrets', () => {
  const secret = 'sk_live_0123456789';
  const search = () => new SecretSearch(formsOf([secret]));

  async function readAll(body: Readable): Promise<string[]> {
    const pieces: string[] = [];
    for await (const piece of withoutSecrets(body, search())) pieces.push(String(piece));
    return pieces;
  }

  test('has a mark for each, and no empty pieces', async () => {
    const pieces = ['a sk_live', '', '_0123', '456789 b', 'sk'].map((piece) => Buffer.from(piece));
    expect(await readAll(Readable.from(pieces))).toEqual(['a ', '[secret] b', 'sk']);
  });

  test('may come in one long piece', async () => {
    const long = Buffer.from(`${'x'.repeat(65_530)}${secret}${'x'.repeat(100_000)}`);
    expect((await readAll(Readable.from([long]))).join('')).toBe(`${'x'.repeat(65_530)}[secret]${'x'.repeat(100_000)}`);
  });

  test('of many pieces that are there at once, leaves turns of the event loop to others', async () => {
    let turns = 0;
    const counting = () => {
      turns += 1;
      turning = setImmediate(counting);
    };
    let turning = setImmediate(counting);
    await readAll(Readable.from(Array(256).fill(Buffer.alloc(65_536, 'x'))));
    clearImmediate(turning);
    expect(turns).toBeGreaterThan(0);
  });

  test('compressed', async () => {
    const { body } = undoEncoding('gzip', Readable.from([gzipSync(`{"token":"${secret}"}`)]));
    expect(await readAll(body)).toEqual(['{"token":"[secret]"}']);
  });

  test('who stops early ends the body, its source, and no more is read', async () => {
    const source = new PassThrough();
    const { body } = undoEncoding('gzip', source);
    source.write(gzipSync(TEXT));
    const closed = closeOf(source);
    for await (const piece of withoutSecrets(body, search())) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    await closed;
    expect(body.destroyed).toBe(true);
  });

  test('fails when the body does', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('a');
        throw new Error('reset');
      })(),
    );
    await expect(readAll(failing)).rejects.toThrow('reset');
  });
});
