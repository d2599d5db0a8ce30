// Every way in which a vendor fails before its first content, by wire, streamed or not, pinned, by a model's name or auto: who is asked, what
// the client gets, and what it pays. A thin slice in `npm test`, all of it in a soak.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Deed } from '../support/ai/openai-double.ts';
import { anthropicWire, openaiWire, type WireWords } from '../support/ai/wires.ts';
import { isSoak } from '../support/soak.ts';
import { AiVendors } from './vendors-bench.ts';

/** Of the whole; the same ones every time. */
const EVERY = isSoak ? 1 : 9;

const STATUSES = {
  VENDOR_DOWN: 503,
  VENDOR_TIMEOUT: 504,
  RATE_LIMIT_VENDOR: 429,
  VENDOR_AUTH_ERROR: 502,
  VALIDATION_FAILED: 400,
  CONTENT_REFUSED: 400,
  VENDOR_ERROR: 502,
} as const;
type Reason = keyof typeof STATUSES;
const LEAVING: ReadonlySet<Reason> = new Set([
  'VENDOR_DOWN',
  'VENDOR_TIMEOUT',
  'RATE_LIMIT_VENDOR',
  'VENDOR_AUTH_ERROR',
]);

interface Row {
  readonly name: string;
  readonly reason: Reason;
  readonly deed: (wire: WireWords) => Deed;
  /** Only there. */
  readonly stream?: true;
  readonly wire?: WireWords['adapter'];
}

const status = (code: number, meaning: Parameters<WireWords['error']>[0], reason: Reason): Row => ({
  name: `${code} ${meaning}`,
  reason,
  deed: (wire) => ({ status: code, body: wire.error(meaning) }),
});
const proxy = (code: number, reason: Reason): Row => ({
  name: `${code} of a proxy`,
  reason,
  deed: () => ({ status: code, body: '<html>no</html>' }),
});
const streamed = (name: string, reason: Reason, deed: Row['deed']): Row => ({ name, reason, deed, stream: true });

const rows: readonly Row[] = [
  status(500, 'down', 'VENDOR_DOWN'),
  status(503, 'down', 'VENDOR_DOWN'),
  status(529, 'down', 'VENDOR_DOWN'),
  status(429, 'busy', 'RATE_LIMIT_VENDOR'),
  status(401, 'auth', 'VENDOR_AUTH_ERROR'),
  status(403, 'auth', 'VENDOR_AUTH_ERROR'),
  status(402, 'funds', 'VENDOR_AUTH_ERROR'),
  status(400, 'invalid', 'VALIDATION_FAILED'),
  status(404, 'unknown', 'VENDOR_ERROR'),
  { ...status(400, 'content', 'CONTENT_REFUSED'), wire: 'openai' },
  proxy(500, 'VENDOR_DOWN'),
  proxy(502, 'VENDOR_DOWN'),
  proxy(504, 'VENDOR_TIMEOUT'),
  proxy(522, 'VENDOR_DOWN'),
  proxy(524, 'VENDOR_TIMEOUT'),
  { name: 'a reset', reason: 'VENDOR_DOWN', deed: () => 'reset' },
  { name: 'an error inside a 200', reason: 'VENDOR_DOWN', deed: (wire) => ({ status: 200, body: wire.error('down') }) },
  { name: 'a 200 that is none', reason: 'VENDOR_DOWN', deed: () => ({ status: 200, body: 'ok' }) },
  streamed('silence', 'VENDOR_TIMEOUT', () => 'silence'),
  streamed('silence after the preamble', 'VENDOR_TIMEOUT', ({ preamble }) => ({ stream: preamble, ends: 'silence' })),
  streamed('a break before anything', 'VENDOR_DOWN', () => ({ stream: [], ends: 'reset' })),
  streamed('a break after the preamble', 'VENDOR_DOWN', ({ preamble }) => ({ stream: preamble, ends: 'reset' })),
  streamed('an end after the preamble', 'VENDOR_DOWN', ({ preamble }) => ({ stream: preamble })),
  streamed('an error after the preamble', 'VENDOR_DOWN', (wire) => ({
    stream: [...wire.preamble, wire.errorPiece('down')],
  })),
  streamed('it is busy after the preamble', 'RATE_LIMIT_VENDOR', (wire) => ({
    stream: [...wire.preamble, wire.errorPiece('busy')],
  })),
];

describe.each([openaiWire, anthropicWire])('at $adapter', (wire) => {
  let bench: AiVendors;
  beforeAll(async () => {
    bench = await AiVendors.start({}, wire);
  });
  afterAll(() => bench?.stop());
  afterEach(() => bench.forgive());

  const cases = rows
    .filter((row) => row.wire === undefined || row.wire === wire.adapter)
    .flatMap((row) => [true, false].map((stream) => ({ ...row, stream, only: row.stream })))
    .filter(({ stream, only }) => only === undefined || stream)
    .flatMap((row) => ['acme/m-1', 'm-1', 'auto'].map((model) => ({ ...row, model })));

  test.each(cases.filter((_, i) => i % EVERY === 0))(
    '$name, streamed: $stream, model: $model',
    async ({ deed, reason, stream, model }) => {
      bench.acme.next(deed(wire));
      const leaves = LEAVING.has(reason) && model !== 'acme/m-1';
      const cost = await bench.spent(async () => {
        const body = { model, messages: [{ role: 'user', content: 'Hello.' }] };
        const { status: code, text, events, error } = await answered(body, stream);
        if (!leaves) {
          expect([code, error?.code]).toEqual([STATUSES[reason], reason]);
          return;
        }
        expect([code, text]).toEqual([200, 'Hello from corp.']);
        const info = {
          primary_vendor: 'acme',
          actual_vendor: 'corp',
          failover_reason: reason,
          fallback_chain_depth: 1,
        };
        expect(events.at(-1).service_metadata).toMatchObject({ vendor: 'corp', failover_info: info });
      });
      expect(cost).toBe(leaves ? ((10n * 1_200n + 5n * 2_400n) * 105n) / 100n : 0n);
      expect([bench.acme.seen.length, bench.corp.seen.length]).toEqual([1, leaves ? 1 : 0]);
    },
  );

  test('without a failure it is asked, and nobody else', async () => {
    for (const stream of [true, false]) {
      const { text } = await answered({ model: 'auto', messages: [{ role: 'user', content: 'Hello.' }] }, stream);
      expect([text, bench.corp.seen.length]).toEqual(['Hello from acme.', 0]);
    }
  });

  async function answered(body: object, stream: boolean) {
    if (!stream) {
      const { status: code, body: answer } = await bench.call('POST', '/v1/chat/completions', body);
      const text = answer.choices?.[0]?.message?.content ?? '';
      return { status: code, text, events: [answer], error: answer.error };
    }
    const { status: code, text, events, raw } = await bench.stream(body);
    const error = code === 200 ? events.at(-1)?.error : JSON.parse(raw).error;
    return { status: code, text, events, error };
  }
});
