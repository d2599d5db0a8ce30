// What a request carries beside plain text is held, gated and priced as well, and a vendor whose wire cannot say it is not given the rest.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { completionOf } from '../support/ai/openai-double.ts';
import { anthropicWire } from '../support/ai/wires.ts';
import { AiVendors } from './vendors-bench.ts';

const text = (over: object = {}) => ({ messages: [{ role: 'user', content: 'Hello.', ...over }] });
const part = (over: object) => text({ content: [{ type: 'text', text: 'Hello.' }, over] });
const words = (count: number) => 'word '.repeat(count);
const file = (characters: number) => part({ type: 'file', file: { file_data: 'QUJD'.repeat(characters / 4) } });

describe('at a vendor that takes it', () => {
  let bench: AiVendors;
  beforeAll(async () => {
    bench = await AiVendors.start();
  });
  afterAll(() => bench?.stop());
  afterEach(() => bench.forgive());
  const ask = (body: object) => bench.call('POST', '/v1/chat/completions', { ...body, max_tokens: 10 });

  /** Each some 8,000 tokens. */
  const carried: readonly (readonly [string, object])[] = [
    ['a file', file(32_000)],
    ['a sound', part({ type: 'input_audio', input_audio: { data: 'QUJD'.repeat(8_000), format: 'mp3' } })],
    ['a video', part({ type: 'video_url', video_url: { url: `data:video/mp4;base64,${'QUJD'.repeat(8_000)}` } })],
    [
      'a schema',
      {
        ...text(),
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { description: words(8_000) } } },
      },
    ],
    ['functions', { ...text(), functions: [{ name: 'f', description: words(8_000) }] }],
    ['a prediction', { ...text(), prediction: { type: 'content', content: words(8_000) } }],
    ['thoughts', text({ thinking_blocks: [{ type: 'thinking', thinking: words(8_000), signature: 's' }] })],
    ['reasoning', text({ reasoning_content: words(8_000) })],
    ['a field that is not known here', { ...text(), documents: [{ title: 'a', body: words(8_000) }] }],
  ];
  test.each(carried)('%s is priced', async (_, body) => {
    bench.acme.next({ status: 200, body: completionOf('Hi.', { usage: undefined }) });
    const cost = await bench.spent(async () => expect((await ask({ ...body, model: 'acme/m-1' })).status).toBe(200));
    expect(cost).toBeGreaterThan(8_000n * 1_050n);
    expect(cost).toBeLessThan(9_000n * 1_050n);
  });

  test('one that is longer than the context is refused before anybody is asked', async () => {
    const { status, body } = await ask(file(2_000_000));
    expect([status, body.error.code, body.error.param]).toEqual([400, 'VALIDATION_FAILED', 'messages']);
    expect(bench.acme.seen).toHaveLength(0);
  });

  test('one that the wallet cannot pay is refused', async () => {
    const poor = await bench.poor(0.05);
    expect((await poor('POST', '/v1/chat/completions', { ...file(360_000), max_tokens: 10 })).status).toBe(402);
    expect((await poor('POST', '/v1/chat/completions', { ...file(36_000), max_tokens: 10 })).status).toBe(200);
  });

  test('numbers, words and identifiers cost nothing beside the messages', async () => {
    const further = {
      temperature: 0.5,
      user: 'u-1',
      metadata: { a: 'b' },
      stop: ['x'],
      seed: 1,
      reasoning_effort: 'low',
    };
    const plain = await bench.call('POST', '/v1/ai/count_tokens', text());
    bench.acme.next({ status: 200, body: completionOf('Hi.', { usage: undefined }) });
    const { body } = await ask({ ...text(), ...further });
    expect(body.usage.prompt_tokens).toBe(plain.body.data.input_tokens);
  });
});

describe('at a vendor whose wire has it not', () => {
  let bench: AiVendors;
  beforeAll(async () => {
    bench = await AiVendors.start({}, anthropicWire);
  });
  afterAll(() => bench?.stop());
  afterEach(() => bench.forgive());
  const ask = (body: object) => bench.call('POST', '/v1/chat/completions', { ...body, max_tokens: 10 });

  const lacking: readonly (readonly [string, object])[] = [
    ['messages[0].content[1].type', file(400)],
    ['messages[0].content[1].type', part({ type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } })],
    ['functions', { ...text(), functions: [{ name: 'f', description: 'Does.' }] }],
    ['tools[0].type', { ...text(), tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    ['n', { ...text(), n: 2 }],
  ];
  test.each(lacking)(
    '%s is refused where the vendor is pinned, and another is asked where none is',
    async (field, body) => {
      const pinned = await ask({ ...body, model: 'acme/m-1' });
      expect([pinned.status, pinned.body.error.code, pinned.body.error.param]).toEqual([
        400,
        'VALIDATION_FAILED',
        field,
      ]);
      const open = await ask(body);
      expect([open.status, open.body.service_metadata.vendor, open.body.service_metadata.failover_info]).toEqual([
        200,
        'corp',
        undefined,
      ]);
      expect(bench.acme.seen).toHaveLength(0);
    },
  );

  test('a refusal of the assistant is told as what it said', async () => {
    const messages = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] },
      { role: 'user', content: 'Why?' },
    ];
    await ask({ messages, model: 'acme/m-1' });
    expect(bench.acme.seen[0]?.body.messages[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'I will not.' }],
    });
  });
});
