// A vendor's stream that is cut: after each of its events and within each, on every wire, with either end of lines. Until its first word another
// vendor answers in its place; from then on none does, and what the vendor has told of its usage is charged.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anthropicModels } from '../../src/modules/ai/vendors/anthropic/index.ts';
import { openaiModels } from '../../src/modules/ai/vendors/openai/index.ts';
import type { AiCall, ChatPiece, ChatRequest } from '../../src/modules/ai/vendors/port.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { type DocumentedEvent, documentedStreams } from '../support/ai/documented-streams.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { anthropicWire, openaiWire } from '../support/ai/wires.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const bodies = { [CHAT]: { messages: [{ role: 'user', content: 'Hi.' }] }, [RESPONSES]: { input: 'Hi.' } };
/** After one more its vendor would be taken to be down. */
const FAILURES_FORGOTTEN = 4;
type Vendor = keyof typeof documentedStreams;

const WORDS = 'Héllo there.';
const price = ([input, output]: readonly [number, number]) => BigInt(input * 1_050 + output * 2_100);
const AT_CORP = ((10n * 1_200n + 5n * 2_400n) * 105n) / 100n;

/** What is sent of a stream: its first events, and this much of the next. */
interface Cut {
  readonly events: number;
  readonly of: 'nothing' | Part;
}
type Part = 'half' | 'all but its last end of line';

/** After each event, and within each. */
function cutsOf({ length }: readonly DocumentedEvent[], part: Part): Cut[] {
  const after = Array.from({ length: length + 1 }, (_, events) => ({ events, of: 'nothing' }) as const);
  return [...after, ...Array.from({ length }, (_, events) => ({ events, of: part }))];
}

function sentOf(stream: readonly DocumentedEvent[], { events, of }: Cut, eol: string): Buffer[] {
  const bytes = (text = '') => Buffer.from(text.replaceAll('\n', eol));
  const next = bytes(stream[events]?.text);
  const parts = { nothing: 0, half: next.length / 2, 'all but its last end of line': next.length - eol.length };
  return [...stream.slice(0, events).map(({ text }) => bytes(text)), next.subarray(0, parts[of])];
}

/** What its client is to get and to pay. */
function expectedOf(stream: readonly DocumentedEvent[], { events }: Cut) {
  const came = stream.slice(0, events);
  if (!came.some(({ words }) => words !== undefined))
    return { words: 'Hello from corp.', isWhole: true, code: undefined, cost: AT_CORP, corp: 1 };
  if (events === stream.length) return { words: WORDS, isWhole: true, code: undefined, cost: price([10, 5]), corp: 0 };
  const used = came.findLast((event) => event.used !== undefined)?.used ?? [0, 0];
  const words = came.map((event) => event.words ?? '').join('');
  return { words, isWhole: false, code: 'VENDOR_DOWN', cost: price(used), corp: 0 };
}

const rows: { vendor: Vendor; path: typeof CHAT | typeof RESPONSES; model?: object }[] = [
  { vendor: 'OpenAI', path: CHAT },
  { vendor: 'OpenRouter', path: CHAT },
  { vendor: 'OpenAI', path: RESPONSES },
  { vendor: 'OpenAI, responses', path: RESPONSES, model: { responses: true } },
  { vendor: 'Anthropic', path: CHAT },
];

describe.each(rows)('a stream of $vendor on $path', ({ vendor, path, model = {} }) => {
  let bench: AiVendors;
  beforeAll(async () => {
    const wire = vendor === 'Anthropic' ? anthropicWire : openaiWire;
    bench = await AiVendors.start(model, wire, {}, { timeouts: PATIENT });
  });
  afterAll(() => bench?.stop());
  const stream = documentedStreams[vendor];

  test.each([
    ['LF', 'half', '\n', 'reset'],
    ['CRLF', 'all but its last end of line', '\r\n', 'end'],
  ] as const)('cut anywhere, lines ended by %s, within an event %s of it sent', async (_, part, eol, ends) => {
    for (const [i, cut] of cutsOf(stream, part).entries()) {
      if (i % FAILURES_FORGOTTEN === 0) await bench.forgive();
      bench.acme.reset();
      bench.corp.reset();
      bench.acme.next({ stream: sentOf(stream, cut, eol), ends, everyMs: 0 });
      const { cost, corp, ...expected } = expectedOf(stream, cut);
      const paid = await bench.spent(async () => {
        const reader = await StreamReader.open(bench.service.url + path, bench.account.secret, bodies[path]);
        await reader.ended;
        const { words, isWhole, events, status } = reader;
        const last = events.at(-1).response ?? events.at(-1);
        expect({ cut, status, words, isWhole, code: last.error?.code }).toEqual({ cut, status: 200, ...expected });
        expect({ cut, told: last.service_metadata.cost_usd }).toEqual({ cut, told: Number(cost) / 1e9 });
      });
      expect({ cut, paid, asked: [bench.acme.seen.length, bench.corp.seen.length] }).toEqual({
        cut,
        paid: cost,
        asked: [1, corp],
      });
    }
  });
});

/** Each part in a turn of its own. */
function arriving(parts: readonly Buffer[]): Readable {
  const waiting = parts.filter(({ length }) => length > 0);
  return new Readable({
    read() {
      const part = waiting.shift() ?? null;
      setImmediate(() => this.push(part));
    },
  });
}

describe.each(Object.keys(documentedStreams) as Vendor[])('a stream of %s', (vendor) => {
  const stream = documentedStreams[vendor];
  const request: ChatRequest = {
    body: bodies[vendor.endsWith('responses') ? RESPONSES : CHAT],
    outputTokensMax: 5,
    inputTokens: 1,
    stream: true,
    model: { id: 'm-1', jsonSchema: null, reasoning: false, options: {} },
  };

  /** Of the parts as they arrive. */
  async function piecesOf(parts: readonly Buffer[]): Promise<ChatPiece[]> {
    const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
    const answered = { kind: 'answered' as const, status: 200, headers, url: '', isExempt: true, latencyMs: 0 };
    const send: OutboundClient['send'] = async () => ({ ...answered, body: arriving(parts) });
    const nothing = () => undefined;
    const call = {
      baseUrl: 'http://vendor.example/v1',
      key: null,
      assetHosts: [],
      holdPicture: nothing,
      markAccepted: nothing,
      timeouts: { connectMs: 1, firstContentMs: 1, idleMs: 1, totalMs: 1 },
      signal: new AbortController().signal,
      outbound: { send } as OutboundClient,
      countDroppedLine: () => {
        throw new Error('a line was left out');
      },
    } satisfies AiCall;
    const { chat, own } = vendor === 'Anthropic' ? anthropicModels : openaiModels;
    const reply = await (vendor.endsWith('responses') && own !== undefined ? own.ask : chat)(call, request);
    if (reply.kind !== 'stream') throw new Error(JSON.stringify(reply));
    // When it came is no part of what it says.
    return JSON.parse(JSON.stringify(await Array.fromAsync(reply.pieces)).replaceAll(/"created":\d+/g, '"created":0'));
  }

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('is the same in however many parts it arrives, lines ended by %s', async (_, eol) => {
    const whole = Buffer.from(stream.map(({ text }) => text.replaceAll('\n', eol)).join(''));
    const wanted = await piecesOf([Buffer.from(stream.map(({ text }) => text).join(''))]);
    expect(wanted.at(-1)?.kind).toBe('end');
    for (let at = 0; at <= whole.length; at += 7)
      expect([at, await piecesOf([whole.subarray(0, at), whole.subarray(at)])]).toEqual([at, wanted]);
    expect(await piecesOf(Array.from(whole, (byte) => Buffer.of(byte)))).toEqual(wanted);
  });
});
