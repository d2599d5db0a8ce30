// Bodies of calls of models that are made to take long: what has too many parts or values is refused by its field, and what is counted or made
// on the event loop is done in slices.
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countTokensInTurns, tokenPieces } from '../../src/lib/chat/tokens.ts';
import { type Client, client } from '../support/service.ts';
import { type AiBench, startAi } from './harness.ts';

let bench: AiBench;
let call: Client;
beforeAll(async () => {
  bench = await startAi();
  call = client(bench.service.url, bench.account.secret);
});
afterAll(() => bench?.service.stop());

const MODEL = 'sandbox/echo-1';
const parts = (count: number) => Array.from({ length: count }, () => ({ type: 'text', text: 'a' }));
const chat = (content: unknown, over: object = {}) => ({
  model: MODEL,
  messages: [{ role: 'user', content }],
  ...over,
});
const many = (count: number) => Array.from({ length: count }, (_, n) => n);
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);

describe('what one body has too much of is named', () => {
  test.each([
    ['parts of a chat', '/v1/chat/completions', chat(parts(10_001)), 'messages', /10001 content parts; at most 10000/],
    [
      'messages',
      '/v1/chat/completions',
      { model: MODEL, messages: many(10_001).map(() => ({ role: 'user', content: 'a' })) },
      'messages',
      /10001 content parts; at most 10000/,
    ],
    [
      'parts of a response',
      '/v1/responses',
      { model: MODEL, input: [{ role: 'user', content: many(10_001).map(() => ({ type: 'input_text', text: 'a' })) }] },
      'input',
      /10001 content parts; at most 10000/,
    ],
    [
      'values',
      '/v1/chat/completions',
      chat('a', { logit_bias: Object.fromEntries(many(50_001).entries()) }),
      'logit_bias',
      /more than 50000 members/,
    ],
    [
      'values of a response',
      '/v1/responses',
      { model: MODEL, input: 'a', tools: many(50_001) },
      'tools',
      /more than 50000 members/,
    ],
    ['levels', '/v1/chat/completions', chat('a', { further: nested(200) }), 'further', /nested deeper than 100/],
    [
      'tokens of an embedding',
      '/v1/embeddings',
      { model: 'sandbox/ngram-1', input: many(500_001) },
      'input',
      /500001 tokens; at most 500000/,
    ],
  ])('%s', async (_, path, body, field, says) => {
    const { status, body: answered, text } = await call('POST', path, body);
    expect(status, text.slice(0, 300)).toBe(400);
    expect(answered.error).toMatchObject({ code: 'VALIDATION_FAILED', param: field });
    expect(answered.error.message).toMatch(says);
  });

  test('a batch names the request', async () => {
    const items = [{ custom_id: 'a', capability: 'ai.chat', body: chat(parts(10_001)) }];
    const { status, body } = await call('POST', '/v1/ai/batch/create', { items });
    expect([status, body.error.param]).toEqual([400, 'items[0].body.messages']);
  });
});

test('10,000 parts are taken, at each door that streams or not, and counted as they were', async () => {
  for (const [path, body] of [
    ['/v1/chat/completions', chat(parts(10_000))],
    [
      '/v1/responses',
      {
        model: MODEL,
        input: [{ role: 'user', content: parts(10_000).map(({ text }) => ({ type: 'input_text', text })) }],
      },
    ],
  ] as const) {
    const { status, body: answered, text } = await call('POST', path, body);
    expect(status, text.slice(0, 300)).toBe(200);
    expect(answered.usage.prompt_tokens ?? answered.usage.input_tokens).toBeGreaterThan(10_000);
  }
});

/** A collection of the heap may fall into a slice, and the heap is that of all files before: the best of so many tries counts. */
const TRIES = 6;
const SLICE_MS_MAX = 20;

/** Processor time of each slice while the text is counted once and made twice, in ms. */
async function slicesMs(text: string): Promise<number[]> {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const slices: number[] = [];
  let isOver = false;
  const work = Promise.all([countTokensInTurns(text), tokenPieces(text), tokenPieces(text)]).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const before = cpuMs();
    await turn();
    slices.push(cpuMs() - before);
  }
  expect((await work)[1].map((piece) => piece.text).join('')).toBe(text);
  return slices;
}

test('texts without a word in them are counted, and made, in slices', async () => {
  await countTokensInTurns('The tables are read.');
  const text = Array.from({ length: 16_000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000))).join('');
  let longestMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && longestMs > SLICE_MS_MAX; tries += 1) {
    const slices = await slicesMs(text);
    expect(slices.length).toBeGreaterThan(5);
    longestMs = Math.min(longestMs, Math.max(...slices));
  }
  expect(longestMs).toBeLessThanOrEqual(SLICE_MS_MAX);
});
