// Clients that leave: before the vendor has taken the call on it costs nothing, after that what the vendor used, or input and what was made,
// counted. It says nothing of the vendor, no other is asked, and the call is counted once.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { inputTokensOf } from '../../src/lib/chat/body.ts';
import { countTokens } from '../../src/lib/chat/tokens.ts';
import { eventually } from '../cron/harness.ts';
import { chunk, type Deed, embeddingsAnswer, frame, opening, usage } from '../support/ai/openai-double.ts';
import { anthropicWire, openaiWire, type WireWords } from '../support/ai/wires.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const say = (over: object = {}) => ({ messages: [{ role: 'user', content: 'Hello.' }], ...over });
const COUNTED = inputTokensOf(say());
/** With 5 % on top. */
const price = (input: number, output: number) => BigInt(input * 1_050 + output * 2_100);
/** 10 in and 5 out, as the vendor tells it. */
const WHOLE = price(10, 5);

const counters = {
  name: 'test_vendor_calls',
  text: `SELECT coalesce(sum(c.calls), 0)::int AS calls, coalesce(sum(c.failures), 0)::int AS failures FROM core.vendor_calls c`,
};
const usageRows = {
  name: 'test_usage_calls',
  text: `SELECT coalesce(sum(u.request_count), 0)::int AS calls FROM core.usage_hour u WHERE u.account_id = $1`,
};

type Moment = 'before acceptance' | 'before content' | 'in the middle' | 'at the last byte';
const moments: readonly Moment[] = ['before acceptance', 'before content', 'in the middle', 'at the last byte'];

/** What the vendor does: it stops at the moment, and goes on with `gate`. */
function deedOf(wire: WireWords, moment: Moment, stream: boolean, gate: Promise<void>): Deed {
  if (!stream) {
    const text = JSON.stringify(wire.completion('Half of it.'));
    const type = 'application/json';
    if (moment === 'before acceptance') return { stream: [text], headAfter: gate, type };
    const at = { 'before content': 0, 'in the middle': 40, 'at the last byte': text.length - 1 }[moment];
    return { stream: [text.slice(0, at), gate, text.slice(at)], type };
  }
  const whole = wire.stream('Half of it.');
  switch (moment) {
    case 'before acceptance':
      return { stream: whole, headAfter: gate };
    case 'before content':
      return { stream: [...wire.preamble, gate, ...whole.slice(1)] };
    case 'in the middle':
      return { stream: [...wire.preamble, wire.content('Half '), gate, ...whole.slice(1)] };
    default:
      // All but what says that it is all; the last piece tells that the usage before it was read.
      return { stream: [...whole.slice(0, -1), wire.content('!'), gate, ...whole.slice(-1)] };
  }
}

/** Whether the service has read that far. */
function isReached(moment: Moment, stream: boolean, read: { readonly heads: number; readonly text: string }): boolean {
  if (moment === 'before acceptance') return true;
  if (!stream || moment === 'before content') return read.heads > 0;
  return read.text.includes(moment === 'in the middle' ? 'Half' : '!');
}

function expectedCost(wire: WireWords, moment: Moment, stream: boolean, bills: boolean): bigint {
  if (moment === 'before acceptance') return 0n;
  if (bills) return WHOLE;
  if (!stream) return price(COUNTED, 0);
  if (moment === 'at the last byte') return WHOLE;
  // One wire tells the input before anything else.
  const input = wire.adapter === 'anthropic' ? 10 : COUNTED;
  return price(input, moment === 'in the middle' ? countTokens('Half ') : 0);
}

/** `then` is called for each head of a vendor's answer that the service has read. */
function onHead({ service }: AiVendors, then: () => void): void {
  const { outbound } = service.core;
  const send = outbound.send.bind(outbound);
  outbound.send = async (request) => {
    const reply = await send(request);
    then();
    return reply;
  };
}

const cases = moments.flatMap((moment) =>
  [true, false].flatMap((stream) => [true, false].map((bills) => ({ moment, stream, bills }))),
);

describe.each([openaiWire, anthropicWire])('on the wire $adapter', (wire) => {
  let bench: AiVendors;
  let heads = 0;
  let calls = 0;
  beforeAll(async () => {
    bench = await AiVendors.start(
      {},
      wire,
      {},
      { timeouts: PATIENT, models: [{ id: 'bills', bills_after_disconnect: true }] },
    );
    onHead(bench, () => {
      heads += 1;
    });
  });
  afterAll(() => bench?.stop());
  afterEach(() => bench.forgive());

  test.each(cases)('$moment, streamed: $stream, billed in any case: $bills', async ({ moment, stream, bills }) => {
    const gate = Promise.withResolvers<void>();
    bench.acme.next(deedOf(wire, moment, stream, gate.promise));
    heads = 0;
    calls += 1;
    const before = await bench.funds();
    const leave = new AbortController();
    const text = { text: '' };
    const leaving = ask(say({ model: bills ? 'bills' : 'm-1', stream }), leave.signal, text).catch(() => null);
    await eventually(() => bench.acme.seen.length > 0 && isReached(moment, stream, { heads, ...text }));
    leave.abort();
    await leaving;
    const isReadOn = bills && moment !== 'before acceptance';
    if (isReadOn) gate.resolve();
    else await eventually(() => bench.acme.seen[0]?.left === true);
    const after = await eventually(async () => {
      const funds = await bench.funds();
      return funds.held === 0n ? funds : null;
    });
    gate.resolve();
    expect(before.balance - after.balance).toBe(expectedCost(wire, moment, stream, bills));
    expect([bench.acme.seen.length, bench.corp.seen.length]).toEqual([1, 0]);
    await bench.service.core.vendors.health.sync();
    const { rows } = await bench.service.core.db.query<{ calls: number; failures: number }>(counters, []);
    // Only of an answer that was read to its end is it known how the vendor did.
    expect(rows[0]).toEqual({ calls: isReadOn ? 1 : 0, failures: 0 });
    expect(bench.service.core.vendors.health.standings()).toEqual([]);
  });

  test('each call stands in the usage once', async () => {
    const counted = async () => {
      const { rows } = await bench.service.core.db.query<{ calls: number }>(usageRows, [bench.account.accountId]);
      return rows[0]?.calls ?? 0;
    };
    await eventually(async () => {
      await bench.service.core.usage.flush();
      return (await counted()) >= calls;
    });
    expect(await counted()).toBe(calls);
  });

  async function ask(body: object, signal: AbortSignal, read: { text: string }): Promise<void> {
    const response = await fetch(`${bench.service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
      headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
    });
    const texts = new TextDecoderStream();
    for await (const piece of response.body?.pipeThrough(texts) ?? []) read.text += piece;
  }
});

describe('embeddings', () => {
  let bench: AiVendors;
  let heads = 0;
  const row = { serves: ['ai.embed'], dimensions: 3, price: { input: 1 } };
  const models = [
    { ...row, id: 'e-left' },
    { ...row, id: 'e-bills', bills_after_disconnect: true },
    { ...row, id: 'e-quick', timeouts: { first_content_ms: 500 } },
  ];
  beforeAll(async () => {
    bench = await AiVendors.start({}, openaiWire, {}, { models, timeouts: PATIENT });
    onHead(bench, () => {
      heads += 1;
    });
  });
  afterAll(() => bench?.stop());
  afterEach(() => bench.forgive());

  const INPUT = 'A boat on a pond.';
  const text = JSON.stringify({ ...embeddingsAnswer(1, 'base64'), usage: { prompt_tokens: 7 } });
  const left = [
    { moment: 'before acceptance', model: 'e-left', at: null, cost: 0n },
    { moment: 'before acceptance', model: 'e-bills', at: null, cost: 0n },
    { moment: 'after it', model: 'e-left', at: 0, cost: price(countTokens(INPUT), 0) },
    { moment: 'in the middle', model: 'e-left', at: 40, cost: price(countTokens(INPUT), 0) },
    { moment: 'in the middle, billed in any case', model: 'e-bills', at: 40, cost: price(7, 0) },
  ] as const;

  test.each(left)('$moment: who leaves pays $cost', async ({ model, at, cost }) => {
    const gate = Promise.withResolvers<void>();
    const type = 'application/json';
    const whole: Deed = { stream: [text], headAfter: gate.promise, type };
    bench.acme.next(at === null ? whole : { stream: [text.slice(0, at), gate.promise, text.slice(at)], type });
    heads = 0;
    const before = await bench.funds();
    const leave = new AbortController();
    const leaving = fetch(`${bench.service.url}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify({ model: `acme/${model}`, input: INPUT }),
      signal: leave.signal,
      headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
    }).catch(() => null);
    await eventually(() => bench.acme.seen.length > 0 && (at === null || heads > 0));
    leave.abort();
    await leaving;
    if (cost !== price(7, 0)) await eventually(() => bench.acme.seen[0]?.left === true);
    gate.resolve();
    const after = await eventually(async () => {
      const funds = await bench.funds();
      return funds.held === 0n ? funds : null;
    });
    expect(before.balance - after.balance).toBe(cost);
    await bench.service.core.vendors.health.sync();
    expect(bench.service.core.vendors.health.standings()).toEqual([]);
  });

  test('of a vendor that takes the call on and says nothing end with its time, and cost nothing', async () => {
    bench.acme.next({ stream: [text.slice(0, 40)], type: 'application/json', ends: 'silence' }, 'silence');
    for (const _ of ['after its head', 'before it']) {
      const cost = await bench.spent(async () => {
        const { status, body } = await bench.call('POST', '/v1/embeddings', { model: 'acme/e-quick', input: INPUT });
        expect([status, body.error.code]).toEqual([504, 'VENDOR_TIMEOUT']);
      });
      expect(cost).toBe(0n);
    }
    expect(bench.acme.seen.map(({ left: ended }) => ended)).toEqual([true, true]);
  });
});

describe('an answer that does not come to its end', () => {
  let bench: AiVendors;
  beforeAll(async () => {
    bench = await AiVendors.start({ timeouts: { ...PATIENT, total_ms: 3_000 } });
  });
  afterAll(() => bench?.stop());
  afterEach(() => bench.forgive());

  test('because its client takes it too slowly is charged as far as it came, and says nothing of the vendor', async () => {
    const many = Array.from({ length: 1_500 }, () => frame(chunk({ content: `${'word '.repeat(3_000)}` })));
    bench.acme.next({ stream: [opening, ...many], everyMs: 0, ends: 'silence' });
    const before = await bench.funds();
    const response = await fetch(`${bench.service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(say({ stream: true })),
      headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let last = Buffer.from((await reader.read()).value ?? []);
    // The vendor is ended for taking too long while nobody reads.
    await eventually(() => bench.acme.seen[0]?.left === true);
    for (let read = await reader.read(); !read.done; read = await reader.read())
      last = Buffer.concat([last.subarray(-20_000), read.value]);
    const told = JSON.parse(last.toString('utf8').trim().split('\n\ndata: ').at(-1) ?? '');
    const { balance, held } = await bench.funds();
    expect(told.error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(before.balance - balance).toBeGreaterThan(1_000_000n);
    const { cost_usd, usage_estimated } = told.service_metadata;
    expect([cost_usd, usage_estimated, held]).toEqual([Number(before.balance - balance) / 1e9, true, 0n]);
    await bench.service.core.vendors.health.sync();
    const { rows } = await bench.service.core.db.query<{ calls: number; failures: number }>(counters, []);
    expect(rows[0]).toEqual({ calls: 0, failures: 0 });
  });

  test('because its vendor breaks off tells what of it was charged, and stands in the usage once', async () => {
    const counted = frame({ ...chunk({}), choices: [], usage });
    bench.acme.next({ stream: [opening, frame(chunk({ content: 'Half ' })), counted], ends: 'reset' });
    const calls = async () => {
      await bench.service.core.usage.flush();
      const { rows } = await bench.service.core.db.query<{ calls: number }>(usageRows, [bench.account.accountId]);
      return rows[0]?.calls ?? 0;
    };
    const callsBefore = await calls();
    const before = await bench.funds();
    const { events } = await bench.stream(say());
    expect(events.at(-1)).toMatchObject({
      error: { code: 'VENDOR_DOWN' },
      service_metadata: { cost_usd: 0.000021, usage_estimated: false },
    });
    expect(before.balance - (await bench.funds()).balance).toBe(WHOLE);
    expect(await calls()).toBe(callsBefore + 1);
  });
});
