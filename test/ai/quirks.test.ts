// What differs between servers of the chat-completions wire is data of a model's row: each difference as it goes over the wire.
import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { EVERYWHERE } from '../../src/lib/address.ts';
import { openaiModels } from '../../src/modules/ai/vendors/openai/index.ts';
import type { AiCall, AiModel } from '../../src/modules/ai/vendors/port.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { type Json, OpenaiDouble } from '../support/ai/openai-double.ts';

let vendor: OpenaiDouble;
let outbound: OutboundClient;
beforeAll(async () => {
  vendor = await OpenaiDouble.start('Hi.');
  outbound = createOutboundClient({ allowPrivateTargets: [] });
});
afterAll(async () => {
  await outbound.close();
  await vendor.stop();
});
afterEach(() => vendor.reset());

/** Nothing here is about time. */
const timeouts = { connectMs: 30_000, firstContentMs: 30_000, idleMs: 30_000, totalMs: 30_000 };
const rowOf = (quirks: object, over: Partial<AiModel> = {}): AiModel => ({
  id: 'm-1',
  jsonSchema: null,
  reasoning: false,
  options: { quirks },
  ...over,
});

function callBy(client: OutboundClient): AiCall {
  const { signal } = new AbortController();
  return {
    baseUrl: vendor.url,
    key: null,
    assetHosts: [],
    timeouts,
    outbound: client,
    signal,
    holdPicture: () => undefined,
    markAccepted: () => undefined,
    countDroppedLine: () => undefined,
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

/** The body that the vendor gets. */
async function sent(
  quirks: object,
  body: Json = {},
  { stream = false, ...row }: Partial<AiModel> & { stream?: boolean } = {},
) {
  const whole = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9, ...body };
  const reply = await openaiModels.chat(callBy(outbound), {
    model: rowOf(quirks, row),
    body: whole,
    outputTokensMax: 50,
    inputTokens: 1,
    stream,
  });
  if (reply.kind === 'stream') await Array.fromAsync(reply.pieces);
  return vendor.seen[0]?.body;
}

test.each([
  [{}, {}, 'max_tokens'],
  [{ limit_field: 'max_completion_tokens' }, {}, 'max_completion_tokens'],
  [{}, { reasoning: true }, 'max_completion_tokens'],
  [{ limit_field: 'max_tokens' }, { reasoning: true }, 'max_tokens'],
])('the limit under its name: %j %j', async (quirks, row, name) => {
  const body = await sent(quirks, { max_completion_tokens: 7 }, row);
  expect([body.max_tokens, body.max_completion_tokens]).toEqual(
    name === 'max_tokens' ? [50, undefined] : [undefined, 50],
  );
});

test('the role developer, or system where that is not known', async () => {
  const messages = [{ role: 'developer', content: 'x' }];
  expect((await sent({}, { messages })).messages).toEqual(messages);
  vendor.reset();
  expect((await sent({ developer_role: false }, { messages })).messages).toEqual([{ role: 'system', content: 'x' }]);
});

test('usage is asked for in streams, but where that is refused', async () => {
  expect((await sent({}, {}, { stream: true })).stream_options).toEqual({ include_usage: true });
  vendor.reset();
  expect(await sent({ stream_usage: false }, {}, { stream: true })).not.toHaveProperty('stream_options');
});

test('fields that it does not take are left out', async () => {
  const body = await sent({ strip: ['seed', 'user'] }, { seed: 1, user: 'u', temperature: 0 });
  expect(body).toEqual({ model: 'm-1', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50, temperature: 0 });
});

test('pictures by URL are fetched here where it fetches none: through the guard, and only pictures', async () => {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': request.url === '/cat.png' ? 'image/png' : 'text/html' }).end('bytes');
  });
  const port = await listening(server);
  const messagesOf = (path: string) => [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `http://127.0.0.1:${port}${path}` } }] },
  ];
  const ask = (client: OutboundClient, path: string) =>
    openaiModels.chat(callBy(client), {
      model: rowOf({ images: 'inline' }),
      body: { messages: messagesOf(path) },
      outputTokensMax: 5,
      inputTokens: 1,
      stream: false,
    });
  const refused = { kind: 'refused', reason: 'VALIDATION_FAILED' };
  expect(await ask(outbound, '/cat.png')).toMatchObject(refused);
  expect(vendor.seen).toHaveLength(0);
  const open = createOutboundClient({ allowPrivateTargets: [], allowPrivateSources: EVERYWHERE });
  expect(await ask(open, '/page.html')).toMatchObject(refused);
  expect((await ask(open, '/cat.png')).kind).toBe('completed');
  expect(vendor.seen[0]?.body.messages[0].content[0].image_url.url).toBe(
    `data:image/png;base64,${Buffer.from('bytes').toString('base64')}`,
  );
  await open.close();
  server.close();
});

test('pictures are held before they are read, at most 24 MiB of a request; who may hold no more is refused', async () => {
  const MIB = 1024 * 1024;
  const picture = Buffer.alloc(10 * MIB);
  const server = createServer((request, response) => {
    const isTold = !request.url?.startsWith('/untold');
    response.writeHead(200, { 'content-type': 'image/png', ...(isTold ? { 'content-length': picture.length } : {}) });
    response.end(isTold ? picture : 'small');
  });
  const port = await listening(server);
  const open = createOutboundClient({ allowPrivateTargets: [], allowPrivateSources: EVERYWHERE });
  const ask = (paths: readonly string[], holdPicture: AiCall['holdPicture']) => {
    const parts = paths.map((path) => ({ type: 'image_url', image_url: { url: `http://127.0.0.1:${port}${path}` } }));
    const body = { messages: [{ role: 'user', content: parts }] };
    const model = rowOf({ images: 'inline' });
    return openaiModels.chat(
      { ...callBy(open), holdPicture },
      { model, body, outputTokensMax: 5, inputTokens: 1, stream: false },
    );
  };
  const held: number[] = [];
  const take = (bytes: number) => void held.push(bytes);
  expect((await ask(['/1', '/2', '/1'], take)).kind).toBe('completed');
  expect(held).toEqual([10 * MIB, 10 * MIB]);
  expect(await ask(['/1', '/2', '/3'], take)).toMatchObject({ kind: 'refused', reason: 'VALIDATION_FAILED' });
  expect((await ask(['/untold'], take)).kind).toBe('completed');
  expect(held.slice(2)).toEqual([10 * MIB, 10 * MIB, 10 * MIB]);
  const full = () => {
    throw new Error('full');
  };
  await expect(ask(['/1'], full)).rejects.toThrow('full');
  expect(vendor.seen).toHaveLength(2);
  await open.close();
  server.close();
});

test.each(['base64', 'float'] as const)('vectors are asked for as %s, and read in either form', async (embeddings) => {
  const embed = openaiModels.embed as NonNullable<typeof openaiModels.embed>;
  const reply = await embed(callBy(outbound), {
    model: rowOf({ embeddings }),
    inputs: ['a', 'b'],
    dimensions: 3,
    dimensionsMax: 3,
    inputTokens: 1,
    further: { user: 'u' },
  });
  expect(vendor.seen[0]?.body).toEqual({
    model: 'm-1',
    input: ['a', 'b'],
    encoding_format: embeddings,
    dimensions: 3,
    user: 'u',
  });
  expect(reply).toMatchObject({
    kind: 'embedded',
    vectors: [Float32Array.from([0, 0.5, -0.25]), Float32Array.from([1, 0.5, -0.25])],
  });
});
