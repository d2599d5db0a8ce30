import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEnvelope } from './envelope.ts';
import { EnvelopeSieve } from './sieve.ts';

const bytes = fc.uint8Array({ maxLength: 60 }).map((each) => Buffer.from(each));
const event = fc.constantFrom({ message: 'é\n🚀' }, {}, { extra: { text: 'x'.repeat(300) } });
/** Payloads without a length end with the line. */
const noNewline = bytes.map((each) => Buffer.from(each.map((byte) => (byte === 10 ? 11 : byte))));
const other = fc.oneof(
  bytes.map((payload) => [Buffer.from(`{"type":"attachment","length":${payload.length}}`), payload]),
  noNewline.map((payload) => [Buffer.from('{"type":"session"}'), payload]),
);
const eventItem = fc.tuple(event, fc.boolean()).map(([sent, told]) => {
  const payload = Buffer.from(JSON.stringify(sent));
  const header = told ? { type: 'event', length: payload.length } : { type: 'event' };
  return { sent, lines: [Buffer.from(JSON.stringify(header)), payload] };
});
const sentEnvelope = fc.record({
  before: fc.array(other, { maxLength: 3 }),
  event: fc.option(eventItem),
  behind: fc.array(other, { maxLength: 3 }),
  isEnded: fc.boolean(),
});

function bodyOf({
  before,
  event: item,
  behind,
  isEnded,
}: typeof sentEnvelope extends fc.Arbitrary<infer T> ? T : never) {
  const lines = [Buffer.from('{"event_id":"7"}'), ...before.flat(), ...(item?.lines ?? []), ...behind.flat()];
  const body = Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [Buffer.of(10), line])));
  return isEnded ? Buffer.concat([body, Buffer.of(10)]) : body;
}

function sifted(body: Buffer, cuts: readonly number[]): Buffer {
  const sieve = new EnvelopeSieve();
  const ends = [...cuts.map((cut) => cut % (body.length + 1)), body.length].sort((a, b) => a - b);
  for (const [i, end] of ends.entries()) {
    const block = body.subarray(ends[i - 1] ?? 0, end);
    for (let at = 0; at < block.length; ) at += sieve.push(block.subarray(at));
  }
  return sieve.end();
}

test('an envelope gives its header and its event, wherever the blocks that it comes in are cut', () => {
  fc.assert(
    fc.property(sentEnvelope, fc.array(fc.nat(), { maxLength: 8 }), (sent, cuts) => {
      const { header, event: found } = parseEnvelope(sifted(bodyOf(sent), cuts));
      expect(header).toEqual({ event_id: '7' });
      expect(found?.value ?? null).toEqual(sent.event?.sent ?? null);
    }),
    { numRuns: 2_000 },
  );
});

test('whether an envelope is taken does not depend on where its blocks are cut', () => {
  const verdict = (body: Buffer, cuts: readonly number[]) => {
    try {
      return sifted(body, cuts).toString('latin1');
    } catch (error) {
      return String(error);
    }
  };
  fc.assert(
    fc.property(sentEnvelope, fc.nat(), bytes, fc.array(fc.nat(), { maxLength: 8 }), (sent, place, noise, cuts) => {
      const sound = bodyOf(sent);
      const at = place % sound.length;
      const body = Buffer.concat([sound.subarray(0, at), noise, sound.subarray(at + noise.length)]);
      expect(verdict(body, cuts)).toBe(verdict(body, []));
    }),
    { numRuns: 2_000 },
  );
});
