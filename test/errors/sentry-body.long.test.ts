// What Sentry SDKs send, byte by byte: encodings, envelopes and their bounds.
import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

let bench: SentryBench;
beforeAll(async () => {
  bench = await SentryBench.of(await ErrorsBench.start());
});
afterAll(() => bench.service.stop());

const FAST = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };
const event = (fields: Record<string, unknown> = {}) => ({ event_id: eventId(), message: 'it broke', ...fields });

describe('the body', () => {
  const chunked = (bytes: Buffer, size = 100) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
        controller.close();
      },
    });

  test.each([
    ['gzip', zlib.gzipSync],
    ['x-gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
    ['GZIP', zlib.gzipSync],
    ['identity', (body: Buffer) => body],
  ])('as %s, in one piece and in chunks', async (encoding, compress) => {
    for (const pack of [(body: Buffer) => body, (body: Buffer) => chunked(body)]) {
      const sent = event({ extra: { text: 'x'.repeat(5_000) } });
      const reply = await bench.post(bench.url(), pack(compress(envelope(sent))), { 'content-encoding': encoding });
      expect(reply.status, reply.text).toBe(200);
      expect((await bench.captured(sent.event_id)).extra.text).toHaveLength(5_000);
    }
  });

  test('of unknown length is no reason to refuse others of the account that come at the same time', async () => {
    const replies = Array.from({ length: 20 }, () => bench.post(bench.url(), chunked(envelope(event()), 30)));
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 200));
  });

  test.each([['compress'], ['gzip, br'], ['constructor']])('as %s is 415', async (encoding) => {
    const reply = await bench.post(bench.url(), envelope(event()), { 'content-encoding': encoding });
    expect([reply.status, reply.body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  test.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
  ])('that is a bomb of %s ends at the limit with 413, many at a time too', async (encoding, compress) => {
    const attached = [Buffer.from('{}\n{"type":"attachment"}\n'), Buffer.alloc(64 * 1024 * 1024)];
    const bomb = compress(Buffer.concat(attached));
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => bench.post(bench.url(), bomb, { 'content-encoding': encoding })),
    );
    expect(new Set(replies.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
      new Set(['413 PAYLOAD_TOO_LARGE']),
    );
    expect((await bench.sendEvent(event())).status).toBe(200);
  });

  test.each([
    ['cut short', (body: Buffer) => body.subarray(0, body.length - 10)],
    ['not compressed at all', () => envelope(event())],
    ['noise', () => randomBytes(500)],
  ])('whose gzip is %s is 400', async (_what, change) => {
    const reply = await bench.post(bench.url(), change(zlib.gzipSync(envelope(event()))), {
      'content-encoding': 'gzip',
    });
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_REQUEST']);
  });

  test('of an event above 1 MiB is 413, below it is taken', async () => {
    const large = event({ extra: { text: 'x'.repeat(1024 * 1024) } });
    expect((await bench.sendEvent(large)).status).toBe(413);
    const sent = event({ extra: { text: 'x'.repeat(1000 * 1024) } });
    expect((await bench.sendEvent(sent)).body).toEqual({ id: sent.event_id });
    expect((await bench.captured(sent.event_id)).extra.text).toHaveLength(1000 * 1024);
  });

  test.each([
    ['envelope', 24],
    ['store', 2],
  ])('of the %s endpoint above %i MiB is 413 with CORS headers, announced or in chunks', async (end, mib) => {
    const large = Buffer.alloc(mib * 1024 * 1024 + 1, 10);
    for (const body of [large, chunked(large, 64 * 1024)]) {
      const reply = await bench.post(bench.url(end), body);
      expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([413, '*']);
    }
  });

  test.each([
    ['text/plain;charset=UTF-8'],
    ['application/x-sentry-envelope'],
    ['application/json'],
    ['application/octet-stream'],
  ])('of the type %j is taken', async (type) => {
    const reply = await bench.sendEvent(event(), { 'content-type': type });
    expect(reply.status, reply.text).toBe(200);
  });
});

describe('an envelope', () => {
  const head = (id?: string) => JSON.stringify(id === undefined ? {} : { event_id: id });
  const send = (lines: (string | Buffer)[]) =>
    bench.post(
      bench.url(),
      Buffer.concat(lines.flatMap((line, i) => [i === 0 ? Buffer.alloc(0) : Buffer.from('\n'), Buffer.from(line)])),
    );

  test('with other items has them dropped, binary ones too', async () => {
    const sent = event();
    const payload = JSON.stringify(sent);
    const noise = Buffer.concat([Buffer.from('\n{"type":"event"}\n'), randomBytes(3000)]);
    const reply = await send([
      head(sent.event_id),
      '{"type":"session"}',
      '{"sid":"1","status":"ok"}',
      `{"type":"attachment","length":${noise.length},"filename":"a.bin"}`,
      noise,
      '{"type":"event"}',
      payload,
      '{"type":"unheard_of","length":0}',
      '',
      '{"type":"client_report"}',
      '{"discarded_events":[]}',
      '',
    ]);
    expect(reply.status, reply.text).toBe(200);
    expect((await bench.captured(sent.event_id)).title).toBe('it broke');
  });

  test.each([
    ['as it is', (body: Buffer) => body, undefined],
    ['in gzip', zlib.gzipSync, 'gzip'],
    ['in brotli', (body: Buffer) => zlib.brotliCompressSync(body, FAST), 'br'],
  ])('with 5 MiB attached %s keeps its event, before or behind', async (_how, pack, encoding) => {
    const attachment = randomBytes(5 * 1024 * 1024);
    for (const isFirst of [true, false]) {
      const sent = event({ extra: { isFirst } });
      const items = [
        [`{"type":"attachment","length":${attachment.length}}`, attachment],
        ['{"type":"event"}', JSON.stringify(sent)],
      ];
      const lines = [head(sent.event_id), ...(isFirst ? items.reverse() : items).flat()];
      const body = pack(Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])));
      const reply = await bench.post(bench.url(), body, encoding === undefined ? {} : { 'content-encoding': encoding });
      expect(reply.status, reply.text).toBe(200);
      expect((await bench.captured(sent.event_id)).extra).toEqual({ isFirst });
    }
  });

  test.each([
    ['session'],
    ['sessions'],
    ['transaction'],
    ['client_report'],
    ['check_in'],
    ['attachment'],
    ['replay_event'],
    ['profile'],
    ['span'],
    ['log'],
    ['feedback'],
  ])('of %s alone is taken, stored nowhere and free', async (type) => {
    const [events, spent] = [await bench.countEvents(), await bench.spentNanos()];
    const id = eventId();
    const reply = await send([head(id), JSON.stringify({ type, length: 2 }), '{}']);
    expect([reply.status, reply.body]).toEqual([200, { id }]);
    expect([await bench.countEvents(), await bench.spentNanos()]).toEqual([events, spent]);
  });

  test('without items is taken', async () => {
    expect((await send(['{}'])).body).toEqual({});
  });

  test('without an id gets one', async () => {
    const reply = await send(['{}', '{"type":"event"}', '{"message":"no id"}']);
    expect(reply.body.id).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each<[string, () => (string | Buffer)[], string]>([
    ['empty', () => [''], 'MALFORMED_JSON'],
    ['no JSON', () => ['hello'], 'MALFORMED_JSON'],
    ['no object', () => ['[]'], 'INVALID_REQUEST'],
    ['not UTF-8', () => [Buffer.from([0x7b, 0xff, 0x7d])], 'MALFORMED_JSON'],
    [
      'cut within an item',
      () => [head(eventId()), '{"type":"event","length":500}', '{"message":"x"}'],
      'INVALID_REQUEST',
    ],
    [
      'longer than its header says',
      () => [head(eventId()), '{"type":"event","length":2}', '{"message":"x"}'],
      'INVALID_REQUEST',
    ],
    ['of a negative length', () => [head(eventId()), '{"type":"event","length":-1}', '{}'], 'INVALID_REQUEST'],
    ['of a length in words', () => [head(eventId()), '{"type":"event","length":"two"}', '{}'], 'INVALID_REQUEST'],
    ['of an event that is no JSON', () => [head(eventId()), '{"type":"event"}', '{"message":'], 'MALFORMED_JSON'],
    ['of an event that is a list', () => [head(eventId()), '{"type":"event"}', '[]'], 'INVALID_REQUEST'],
    [
      'of an event that is too deep',
      () => [head(eventId()), '{"type":"event"}', `{"extra":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
      'MALFORMED_JSON',
    ],
    ['of two events', () => [head(eventId()), '{"type":"event"}', '{}', '{"type":"event"}', '{}'], 'INVALID_REQUEST'],
    [
      'of headers of items that are too long together',
      () => [
        head(),
        ...Array.from({ length: 300 }, () => [`{"type":"session","x":"${'x'.repeat(1_000)}"}`, '{}']).flat(),
      ],
      'INVALID_REQUEST',
    ],
    ['of an event of no bytes', () => [head(eventId()), '{"type":"event","length":0}', ''], 'MALFORMED_JSON'],
    ['of blank lines', () => [head(), ...Array.from({ length: 1_002 }, () => '')], 'INVALID_REQUEST'],
    [
      'of too many items',
      () => [head(), ...Array.from({ length: 1_001 }, () => ['{"type":"session"}', '{}']).flat()],
      'INVALID_REQUEST',
    ],
    ['of an id that is none', () => ['{"event_id":"../etc"}', '{"type":"event"}', '{}'], 'VALIDATION_FAILED'],
  ])('that is %s is refused with 400, says so and stores nothing', async (_what, lines, code) => {
    const before = await bench.countEvents();
    const reply = await send(lines());
    expect([reply.status, reply.body.code]).toEqual([400, code]);
    expect(reply.headers.get('x-sentry-error')).toBe(reply.body.detail);
    expect(await bench.countEvents()).toBe(before);
  });

  test('for a project that is no number is 400', async () => {
    const reply = await bench.post(bench.url().replace('/api/1/', '/api/one/'), envelope(event()));
    expect([reply.status, reply.body.param]).toEqual([400, 'project']);
  });
});

test('the store endpoint takes the event itself, with or without the last slash', async () => {
  for (const url of [bench.url('store'), bench.url('store').replace('/store/', '/store')]) {
    const sent = event({ level: 'warning' });
    const reply = await bench.post(url, JSON.stringify(sent));
    expect(reply.body).toEqual({ id: sent.event_id });
    expect((await bench.captured(sent.event_id)).level).toBe('warning');
  }
  expect((await bench.post(bench.url('store'), '{')).status).toBe(400);
});

describe('the store endpoint takes an event', () => {
  const inLines = (text: string) => `${text.replaceAll(/.{76}/g, '$&\r\n')}\n`;
  test.each<[string, (event: Buffer) => string]>([
    ['base64 of zlib', (body) => zlib.deflateSync(body).toString('base64')],
    ['base64 of gzip', (body) => zlib.gzipSync(body).toString('base64')],
    ['base64 in lines', (body) => inLines(zlib.deflateSync(body).toString('base64'))],
  ])('as %s', async (_how, pack) => {
    const extra = { noise: randomBytes(700).toString('hex') };
    const sent = event({ extra });
    const reply = await bench.post(bench.url('store'), pack(Buffer.from(JSON.stringify(sent))));
    expect(reply.status, reply.text).toBe(200);
    expect((await bench.captured(sent.event_id)).extra).toEqual(extra);
  });

  test.each<[string, () => string, string]>([
    ['base64 of something else', () => Buffer.from('hello').toString('base64'), '400 INVALID_REQUEST'],
    ['a word', () => 'hello', '400 INVALID_REQUEST'],
    [
      'base64 of zlib that is cut',
      () => zlib.deflateSync('{}').subarray(0, 4).toString('base64'),
      '400 INVALID_REQUEST',
    ],
    ['base64 of no event', () => zlib.deflateSync('[]').toString('base64'), '400 INVALID_REQUEST'],
    ['a bomb', () => zlib.deflateSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64'), '413 PAYLOAD_TOO_LARGE'],
    ['almost base64', () => `${' '.repeat(1_900_000)}!`, '413 PAYLOAD_TOO_LARGE'],
  ])('not as %s', async (_how, body, refusal) => {
    const { status, body: answer } = await bench.post(bench.url('store'), body());
    expect(`${status} ${answer.code}`).toBe(refusal);
  });
});
