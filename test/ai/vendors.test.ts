// Chats at vendors that speak the chat-completions wire: what they are sent, what their clients get, who is asked next, and what is charged.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openaiModels } from '../../src/modules/ai/vendors/openai/index.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { eventually } from '../cron/harness.ts';
import {
  chunk,
  completionOf,
  type Deed,
  done,
  frame,
  type Json,
  opening,
  streamOf,
  usage,
} from '../support/ai/openai-double.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { AiVendors } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start();
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const say = (over: object = {}) => ({ messages: [{ role: 'user', content: 'Hello.' }], ...over });
const complete = (over: object = {}) => bench.call('POST', '/v1/chat/completions', say(over));
/** 10 tokens in and 5 out, with 5 % on top. */
const AT_ACME = ((10n * 1_000n + 5n * 2_000n) * 105n) / 100n;
const AT_CORP = ((10n * 1_200n + 5n * 2_400n) * 105n) / 100n;

describe('a chat at a vendor', () => {
  test('is sent as it came, but for the model, the limit and what is ours', async () => {
    const fields = { temperature: 0.5, seed: 7, x_unknown: { deep: [1] }, user: 'u-1' };
    await complete({
      ...fields,
      model: 'auto',
      vendor: 'acme',
      max_completion_tokens: 50,
      idempotency_key: 'k',
      cross_region: false,
    });
    const [seen] = bench.acme.seen;
    expect(seen?.headers.authorization).toBe('Bearer vendor-key');
    expect(seen?.body).toEqual({ ...say(), ...fields, model: 'm-1', max_tokens: 50 });
  });

  test('is answered as the vendor says it, with its price', async () => {
    bench.acme.next({ status: 200, body: completionOf('Hi.', { service_tier: 'default', system_fingerprint: 'fp' }) });
    const cost = await bench.spent(async () => {
      const { body, headers } = await complete();
      expect(body).toMatchObject({ service_tier: 'default', system_fingerprint: 'fp', model: 'acme/m-1', usage });
      expect(body.service_metadata).toMatchObject({ vendor: 'acme', cost_usd: Number(AT_ACME) / 1e9 });
      expect([headers.get('x-qm-vendor'), headers.get('x-qm-model'), headers.get('x-qm-cost-usd')]).toEqual([
        'acme',
        'acme/m-1',
        '0.000021',
      ]);
    });
    expect(cost).toBe(AT_ACME);
  });

  test('streams: usage is asked for, and shown only to whom asks', async () => {
    const cost = await bench.spent(async () => {
      const plain = await bench.stream(say());
      expect([plain.text, plain.isWhole]).toEqual(['Hello from acme.', true]);
      expect(plain.events.every((event) => !('usage' in event) && event.model === 'acme/m-1')).toBe(true);
      expect(plain.events.at(-1).service_metadata).toMatchObject({ vendor: 'acme', cost_usd: 0.000021 });
    });
    expect(cost).toBe(AT_ACME);
    expect(bench.acme.seen[0]?.body.stream_options).toEqual({ include_usage: true });
    const asking = await bench.stream(say({ stream_options: { include_usage: true } }));
    expect(asking.events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
  });

  test('costs what the vendor says, a zero too; only what it does not say is counted', async () => {
    bench.acme.next({ status: 200, body: completionOf('Hi.', { usage: { prompt_tokens: 0, completion_tokens: 0 } }) });
    expect(await bench.spent(() => complete())).toBe(0n);
    bench.acme.next({ stream: streamOf('Hello there.', null) });
    const cost = await bench.spent(async () => {
      const { events } = await bench.stream(say());
      expect(events.at(-1).service_metadata).toMatchObject({ usage_estimated: true });
    });
    expect(cost).toBeGreaterThan(0n);
    expect(cost).toBeLessThan(50_000n);
  });

  test('never costs more than was held: what exceeds it is the operator’s', async () => {
    bench.acme.next({
      status: 200,
      body: completionOf('Hi.', { usage: { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 } }),
    });
    const cost = await bench.spent(() => complete({ max_tokens: 10 }));
    expect(cost).toBeLessThan(40_000n);
    const sold = (await bench.bills()).find(
      ({ cause, billedNanos }) => cause === 'sold' && billedNanos > 1_000_000_000n,
    );
    expect(sold).toMatchObject({ vendor: 'acme' });
  });

  test('keeps its answer for its key, encrypted, and gives it again in either form', async () => {
    const body = say({ idempotency_key: 'once' });
    const first = await bench.stream(body);
    expect(await bench.spent(async () => expect((await bench.stream(body)).text).toBe(first.text))).toBe(0n);
    const again = await bench.call('POST', '/v1/ai/chat', body);
    expect(again.body).toMatchObject({
      data: { choices: [{ message: { content: first.text } }] },
      metadata: { idempotent_replay: true },
    });
    expect(bench.acme.seen).toHaveLength(1);
    const { rows } = await bench.service.core.db.query<{ answer: Buffer }>(
      {
        name: 'test_ai_kept',
        text: 'SELECT i.answer FROM core.idempotency i WHERE i.account_id = $1 AND i.answer IS NOT NULL',
      },
      [bench.account.accountId],
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ answer }) => !answer.toString('utf8').includes('Hello'))).toBe(true);
  });
});

describe('before the first content another vendor is asked', () => {
  const said = (status: number, code: string, more: object = {}) => ({
    status,
    body: { error: { message: 'no', code } },
    ...more,
  });
  const broken = (...stream: string[]): Deed => ({ stream, ends: 'reset' });
  const cases: [string, Deed, string][] = [
    ['500', said(500, 'server_error'), 'VENDOR_DOWN'],
    ['502 of a proxy', { status: 502, body: '<html>' }, 'VENDOR_DOWN'],
    ['503', said(503, 'overloaded'), 'VENDOR_DOWN'],
    ['504', { status: 504, body: '' }, 'VENDOR_TIMEOUT'],
    ['429', said(429, 'rate_limit_exceeded'), 'RATE_LIMIT_VENDOR'],
    ['401', said(401, 'invalid_api_key'), 'VENDOR_AUTH_ERROR'],
    ['402', said(402, 'insufficient_quota'), 'VENDOR_AUTH_ERROR'],
    ['a reset', 'reset', 'VENDOR_DOWN'],
    ['an error inside a 200', { status: 200, body: { error: { message: 'no', code: 503 } } }, 'VENDOR_DOWN'],
    ['a 200 that is none', { status: 200, body: 'ok' }, 'VENDOR_DOWN'],
  ];
  const streams: [string, Deed, string][] = [
    ['silence', 'silence', 'VENDOR_TIMEOUT'],
    ['silence after the opening', { stream: [opening], ends: 'silence' }, 'VENDOR_TIMEOUT'],
    ['a break before anything', broken(), 'VENDOR_DOWN'],
    ['a break after the opening', broken(opening), 'VENDOR_DOWN'],
    [
      'an error after a comment and the opening',
      { stream: [': hi\n\n', opening, frame({ error: { message: 'no', code: 500 } })] },
      'VENDOR_DOWN',
    ],
    ['an end without content or marker', { stream: [opening] }, 'VENDOR_DOWN'],
  ];

  test.each([
    ...cases.map(([name, deed, reason]) => ({ name, deed, reason, stream: false })),
    ...[...cases, ...streams].map(([name, deed, reason]) => ({ name, deed, reason, stream: true })),
  ])('$name, streamed: $stream', async ({ deed, reason, stream }) => {
    bench.acme.next(deed);
    const cost = await bench.spent(async () => {
      const metadata = stream ? await streamed() : (await complete()).body.service_metadata;
      expect(metadata).toMatchObject({
        vendor: 'corp',
        failover_info: {
          primary_vendor: 'acme',
          actual_vendor: 'corp',
          failover_reason: reason,
          fallback_chain_depth: 1,
        },
      });
    });
    expect(cost).toBe(AT_CORP);
    expect([bench.acme.seen.length, bench.corp.seen.length]).toEqual([1, 1]);
  });

  async function streamed() {
    const { text, events, isWhole } = await bench.stream(say());
    expect([text, isWhole]).toEqual(['Hello from corp.', true]);
    return events.at(-1).service_metadata;
  }

  test('not one that is pinned, and not for what the caller can mend: that is told, and costs nothing', async () => {
    bench.acme.next(said(503, 'overloaded'), said(400, 'context_length_exceeded'), said(400, 'content_filter'));
    const cost = await bench.spent(async () => {
      const failures = [await complete({ model: 'acme/m-1' }), await complete(), await complete()];
      expect(failures.map(({ status, body }) => [status, body.error.code])).toEqual([
        [503, 'VENDOR_DOWN'],
        [400, 'VALIDATION_FAILED'],
        [400, 'CONTENT_REFUSED'],
      ]);
      expect(failures[1]?.body.error.message).toContain('no');
    });
    expect(cost).toBe(0n);
    expect(bench.corp.seen).toHaveLength(0);
  });

  test('when all fail the first reason is told, before any headers', async () => {
    bench.acme.next(said(429, 'rate_limit_exceeded', { headers: { 'retry-after': '7' } }));
    bench.corp.next(said(500, 'server_error'));
    const { status, body, headers } = await complete({ stream: true });
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'RATE_LIMIT_VENDOR', '7']);
  });
});

describe('after the first content', () => {
  test('a break is told in the stream, with our code; nothing is charged unless the vendor said what it used', async () => {
    const words = frame(chunk({ content: 'Half ' }));
    const counted = frame({ ...chunk({}), choices: [], usage });
    bench.acme.next({ stream: [opening, words], ends: 'reset' }, { stream: [opening, words, counted], ends: 'reset' });
    const broken = async () => {
      const { status, text, isWhole, events } = await bench.stream(say());
      expect([status, text, isWhole]).toEqual([200, 'Half ', false]);
      expect(events.at(-1).error).toMatchObject({ code: 'VENDOR_DOWN', type: 'server_error' });
      expect(events.at(-1).service_metadata).toMatchObject({ entry_form: 'openai_compat' });
    };
    expect(await bench.spent(broken)).toBe(0n);
    expect(await bench.spent(broken)).toBe(AT_ACME);
    expect(bench.corp.seen).toHaveLength(0);
  });

  test('a client that leaves ends the vendor’s work, and pays for what came', async () => {
    const endless = Array.from({ length: 1_000 }, () => frame(chunk({ content: 'word ' })));
    bench.acme.next({ stream: [opening, ...endless], everyMs: 5 });
    const before = await bench.funds();
    const { url } = bench.service;
    const reader = await StreamReader.open(`${url}/v1/chat/completions`, bench.account.secret, say());
    await eventually(() => reader.text.includes('word'));
    reader.leave();
    await reader.ended;
    await eventually(async () => (bench.acme.seen[0]?.left === true ? true : null));
    const after = await eventually(async () => {
      const funds = await bench.funds();
      return funds.held === 0n ? funds : null;
    });
    const paid = before.balance - after.balance;
    expect(paid).toBeGreaterThan(10_000n);
    expect(paid).toBeLessThan(1_000_000n);
  });

  test('whose vendor is silent for too long it has failed', async () => {
    bench.acme.next({ stream: [opening, frame(chunk({ content: 'Half' }))], ends: 'silence' });
    const { events, text } = await bench.stream(say());
    expect([text, events.at(-1).error.code]).toEqual(['Half', 'VENDOR_TIMEOUT']);
  });
});

test('a line that cannot be read is left out of a stream, and counted for its vendor', async () => {
  const words = ['Half', ' of it.'].map((content) => frame(chunk({ content })));
  bench.acme.next({
    stream: [opening, words[0] as string, 'data: {"choices": [{\n\n', words[1] as string, 'data: 7\n\n', done],
  });
  const counted = async () => {
    const text = await (await fetch(`${bench.service.url}/metrics`)).text();
    return Number(/^qm_vendor_lines_dropped_total\{vendor="acme"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await counted();
  const { text, isWhole } = await bench.stream(say());
  expect([text, isWhole, await counted()]).toEqual(['Half of it.', true, before + 2]);
});

test('a stream may be cut anywhere, within a character too', async () => {
  const outbound = createOutboundClient({ allowPrivateTargets: [] });
  const whole = Buffer.from(streamOf('naïve 🎉 漢字').join(''));
  const timeouts = { connectMs: 1_000, firstContentMs: 5_000, idleMs: 5_000, totalMs: 10_000 };
  const call = {
    baseUrl: bench.acme.url,
    key: null,
    assetHosts: [],
    timeouts,
    outbound,
    signal: new AbortController().signal,
    holdPicture: () => undefined,
    markAccepted: () => undefined,
    countDroppedLine: () => undefined,
  };
  const model = { id: 'm-1', jsonSchema: null, reasoning: false, options: {} };
  for (let at = 1; at < whole.length; at += 7) {
    bench.acme.next({ stream: [whole.subarray(0, at), whole.subarray(at)] });
    const reply = await openaiModels.chat(call, {
      model,
      body: say(),
      outputTokensMax: 5,
      inputTokens: 1,
      stream: true,
    });
    if (reply.kind !== 'stream') throw new Error(reply.kind);
    const pieces = await Array.fromAsync(reply.pieces);
    const text = pieces
      .map((piece) => (piece.kind === 'chunk' ? ((piece.chunk.choices as Json)[0].delta.content ?? '') : ''))
      .join('');
    expect([at, text, pieces.at(-1)?.kind]).toEqual([at, 'naïve 🎉 漢字', 'end']);
  }
  await outbound.close();
});
