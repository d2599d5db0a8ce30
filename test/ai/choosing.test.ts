// Which model a request goes to, by the name that it gives and by what it needs; what none can do is refused in the shape of the wire that it came by.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../support/ai/openai-double.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

/** Beside acme/m-1 and corp/m-1, which have tools and schemas and see nothing. */
const models = [
  { id: 'plain', price: { input: 0.1, output: 0.2 }, tools: false, json_schema: false, context: 2_000 },
  { id: 'eyes', price: { input: 5, output: 10 }, images: true, flagship: true },
  { id: 'meta/llama', price: { input: 3, output: 6 }, tools: false },
];
let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({}, undefined, {}, { models, timeouts: PATIENT });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';
const schema = { type: 'object', properties: {}, additionalProperties: false };

/** One need, as each wire says it. */
const wires = {
  '/v1/chat/completions': {
    words: (content: string) => ({ messages: [{ role: 'user', content }] }),
    tools: { tools: [{ type: 'function', function: { name: 'look', parameters: schema } }] },
    picture: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PICTURE } }] }] },
    schema: { response_format: { type: 'json_schema', json_schema: { name: 'it', schema } } },
    limit: (max_tokens: number) => ({ max_tokens }),
    names: { words: 'messages', schema: 'response_format', limit: 'max_tokens' },
  },
  '/v1/responses': {
    words: (input: string) => ({ input }),
    tools: { tools: [{ type: 'function', name: 'look', parameters: schema }] },
    picture: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
    schema: { text: { format: { type: 'json_schema', name: 'it', schema } } },
    limit: (max_output_tokens: number) => ({ max_output_tokens }),
    names: { words: 'input', schema: 'text.format', limit: 'max_output_tokens' },
  },
} as const;

describe.each(Object.entries(wires))('%s', (path, wire) => {
  const ask = (model: string | undefined, ...needs: object[]) =>
    bench.call('POST', path, Object.assign({ model, ...wire.words('Hello.') }, ...needs));
  const chosen = async (model: string | undefined, ...needs: object[]) => {
    const { body, headers, status } = await ask(model, ...needs);
    expect([status, headers.get('x-qm-model')]).toEqual([200, body.model]);
    return body.model;
  };
  const long = wire.words('word '.repeat(4_000));

  test('a name is followed: of a vendor’s model, of a model at any vendor, of one with a slash, of an order', async () => {
    const named = ['acme/m-1', 'corp/m-1', 'm-1', 'plain', 'meta/llama', 'acme/meta/llama', 'auto', undefined];
    const orders = ['cheapest', 'smartest'];
    expect(await Promise.all([...named, ...orders].map((name) => chosen(name)))).toEqual([
      ...['acme/m-1', 'corp/m-1', 'acme/m-1', 'acme/plain', 'acme/meta/llama', 'acme/meta/llama'],
      ...['acme/plain', 'acme/plain', 'acme/plain', 'acme/eyes'],
    ]);
    expect(await chosen('auto', { vendor: 'corp' })).toBe('corp/m-1');
    expect(await chosen('m-1', { vendor: 'corp' })).toBe('corp/m-1');
  });

  test('auto and a need lead to the cheapest that can do it, by whatever name', async () => {
    const needs = { tools: wire.tools, picture: wire.picture, schema: wire.schema, context: long };
    const led = Object.entries(needs).map(async ([need, said]) => [need, await chosen('auto', said)]);
    expect(Object.fromEntries(await Promise.all(led))).toEqual({
      tools: 'acme/m-1',
      picture: 'acme/eyes',
      schema: 'acme/m-1',
      context: 'acme/m-1',
    });
    expect(await chosen('cheapest', wire.tools)).toBe('acme/m-1');
    expect(await chosen('smartest', long)).toBe('acme/eyes');
  });

  test('what stands in has what is needed too; where nothing has it, nobody stands in', async () => {
    const down = { status: 500, body: { error: { message: 'no', code: 'server_error' } } };
    bench.acme.next(down, down);
    expect(await chosen('auto', wire.tools)).toBe('corp/m-1');
    const { status, body } = await ask('auto', wire.picture);
    expect([status, body.error.code, bench.acme.seen.length, bench.corp.seen.length]).toEqual([
      503,
      'VENDOR_DOWN',
      2,
      1,
    ]);
  });

  const { words, schema: format, limit } = wire.names;
  test.each<[string, string, object, string, number, string | null, string]>([
    ['tools', 'acme/plain', wire.tools, 'VALIDATION_FAILED', 400, 'tools', 'The model plain does not take tools.'],
    ['tools, by its bare name', 'plain', wire.tools, 'VALIDATION_FAILED', 400, 'tools', 'plain does not take tools'],
    ['a picture', 'm-1', wire.picture, 'VALIDATION_FAILED', 400, words, 'images'],
    ['a schema', 'acme/plain', wire.schema, 'VALIDATION_FAILED', 400, format, 'JSON schema'],
    ['a long output', 'acme/m-1', wire.limit(1_001), 'VALIDATION_FAILED', 400, limit, 'at most 1000 tokens'],
    ['a long output anywhere', 'auto', wire.limit(1_001), 'VALIDATION_FAILED', 400, limit, 'at most 1000 tokens'],
    ['a long input', 'acme/plain', long, 'VALIDATION_FAILED', 400, words, 'the context there has 2000'],
    ['a model that nobody has', 'm-l', {}, 'MODEL_NOT_FOUND', 404, 'model', 'Did you mean m-1'],
    ['two letters that changed places', 'acme/plian', {}, 'MODEL_NOT_FOUND', 404, 'model', 'Did you mean acme/plain'],
    [
      'one that its vendor has not',
      'corp/plain',
      {},
      'MODEL_NOT_FOUND',
      404,
      'model',
      'There is no model "plain" at corp',
    ],
    ['a vendor that is none', 'auto', { vendor: 'nobody' }, 'VENDOR_NOT_AVAILABLE', 400, 'vendor', 'acme, corp'],
    ['two vendors', 'acme/m-1', { vendor: 'corp' }, 'INVALID_REQUEST', 400, 'vendor', 'model names the vendor acme'],
    ['a model that is no name', '', {}, 'VALIDATION_FAILED', 400, 'model', 'model is a text'],
  ])(
    '%s of %s is refused, by its field: nobody is asked, and nothing is paid',
    async (_, model, need, code, status, param, words) => {
      const paid = await bench.spent(async () => {
        for (const stream of [false, true]) {
          const { body, headers, status: got } = await ask(model, need, { stream });
          expect([got, headers.get('x-should-retry'), headers.get('content-type')]).toEqual([
            ...[status, 'false', 'application/json; charset=utf-8'],
          ]);
          expect(Object.keys(body)).toEqual(['error', 'service_metadata']);
          expect(body.error).toEqual({
            code,
            param,
            type: 'invalid_request_error',
            message: expect.stringContaining(words),
          });
          expect(body.service_metadata).toMatchObject({ entry_form: 'openai_compat', cost_usd: 0 });
        }
      });
      expect([paid, bench.acme.seen, bench.corp.seen]).toEqual([0n, [], []]);
    },
  );
});

test('a list of models to fall back to is the vendor’s own affair: it goes there as it came', async () => {
  const sent: Json = { model: 'acme/m-1', messages: [{ role: 'user', content: 'Hello.' }], models: ['x/one', 'y/two'] };
  const { body } = await bench.call('POST', '/v1/chat/completions', sent);
  expect([body.model, bench.acme.seen[0]?.body.models]).toEqual(['acme/m-1', ['x/one', 'y/two']]);
});
