// No call holds the event loop for longer than 20 ms of processor time: by every door, the bodies that cost it most.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { encodeJson } from '../../src/lib/long-json.ts';
import { QueueBench } from '../queue/harness.ts';
import { SqsBench } from '../sqs/harness.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { allowedCpuMs } from '../support/slowness.ts';
import { jsonRequest, signedHeaders } from '../support/sqs.ts';
import { longestTurn } from '../support/turn-meter.ts';

const { turnMsMax } = admission.call;
/** The best of them counts: a collection of garbage, or pages that the kernel gives on a busy machine, may fall into one. */
const TRIES = 16;
/** All of 15 MiB are counted at each try, and other tests run beside. */
const PATIENCE_MS = 300_000;
const MIB = 1024 * 1024;

let service: TestService;
let account: TestAccount;
let sqs: SqsBench;
beforeAll(async () => {
  service = await startTestService();
  account = await createTestAccount(service.core, 1_000);
  const call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/vector/collection/create', { collection: 'wide', dimension: 1_536, metric: 'cosine' });
  sqs = await SqsBench.of(new QueueBench(service, account));
  // What is loaded once is loaded.
  await call('POST', '/v1/ai/count_tokens', { input: 'a' });
});
afterAll(() => service.stop());

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly status: number;
}

const json =
  (path: string, value: unknown, status = 200) =>
  (): Sent => ({
    path,
    status,
    body: Buffer.from(JSON.stringify(value)),
  });
const form = (path: string, body: string, status: number) => (): Sent => ({
  path,
  body,
  status,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const get =
  (path: string, status: number, headers = {}) =>
  (): Sent => ({ method: 'GET', path, headers, status });
const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));
const words = (bytes: number) => 'some words of a text. '.repeat(bytes / 22);
const texts = (type: string) => many(10_000, () => ({ type, text: words(1_500) }));
const others = many(10_000, () => ({ type: 'text', text: 'é漢'.repeat(200) }));
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(15 * MIB)}` } };
const chat = (content: unknown, over: object = {}) => ({
  model: 'sandbox/echo-1',
  max_completion_tokens: 16,
  messages: [{ role: 'user', content }],
  ...over,
});
const response = (input: unknown) => ({ model: 'sandbox/echo-1', max_output_tokens: 16, input });
const embed = (input: unknown) => ({ model: 'sandbox/ngram-1', dimensions: 64, input });
const vector = (n: number) => many(1_536, (i) => Math.sin(n + i + 1));
const CHAT = '/v1/chat/completions';

/** 400: refused once all of it was counted, as too long for the context. */
const doors: [string, () => Sent][] = [
  ['a chat of one long text', json(CHAT, chat(words(15 * MIB)), 400)],
  ['a chat of 10,000 texts', json(CHAT, chat(texts('text')), 400)],
  ['a chat of 10,000 texts of other letters', json(CHAT, chat(others), 400)],
  ['a chat with a picture of 15 MiB', json(CHAT, chat([picture, { type: 'text', text: 'a' }]))],
  ['a chat of 49,000 values', json(CHAT, chat('a', { further: many(49_000, (n) => `${n}`.repeat(60)) }), 400)],
  ['a chat of 49,000 short values', json(CHAT, chat('a', { further: many(49_000, (n) => `${n}`) }))],
  ['a chat in the envelope', json('/v1/ai/chat', chat(words(15 * MIB)), 400)],
  ['a response of one long text', json('/v1/responses', response(words(15 * MIB)), 400)],
  [
    'a response of 10,000 texts',
    json('/v1/responses', response([{ role: 'user', content: texts('input_text') }]), 400),
  ],
  ['tokens counted of 15 MiB', json('/v1/ai/count_tokens', { messages: [{ role: 'user', content: words(15 * MIB) }] })],
  ['embeddings of 2,000 texts', json('/v1/embeddings', embed(many(2_000, () => words(7_000))))],
  ['embeddings of 64 KiB', json('/v1/embeddings', embed(many(1_000, (n) => `text ${n} of many others`)))],
  ['embeddings of 500,000 tokens', json('/v1/embeddings', embed(many(100, () => many(5_000, (n) => n))), 400)],
  [
    'ten messages of 200 KB',
    json('/v1/queue/batch/publish', { queue: 'jobs', items: many(10, () => ({ payload: { text: words(2e5) } })) }),
  ],
  ['a message of 9,000 members', json('/v1/queue/publish', { queue: 'jobs', payload: { ...many(9_000, (n) => n) } })],
  [
    'vectors of 1,000 x 1,536',
    json('/v1/vector/upsert', {
      collection: 'wide',
      vectors: many(1_000, (n) => ({ id: `v${n}`, embedding: vector(n) })),
    }),
  ],
  [
    'a search that answers 80 x 1,536 numbers',
    json('/v1/vector/query', { collection: 'wide', embedding: vector(1), top_k: 80, include_values: true }),
  ],
  ['an error event of 900 KB', json('/v1/errors/capture', { message: 'a', context: { text: words(9e5) } })],
  [
    'the device grant with 3,000 names',
    form('/oauth/device_authorization', many(3_000, (n) => `a${n}`).join('&'), 413),
  ],
  ['a form of 128 KiB', form('/console/view', '&'.repeat(128 * 1024), 413)],
  ['a form to sign in', form('/auth/key', many(2_000, (n) => `a${n}`).join('&'), 403)],
  ['an address with 2,000 names', get(`/oauth/authorize?${many(2_000, (n) => `n${n}`).join('&')}`, 303)],
  ['a search for 200 characters', get(`/v1/discovery?q=${'store+a+job+'.repeat(16)}`, 200)],
  ['a page that 900 media types are accepted of', get('/docs', 200, { accept: 'text/html;q=0.1,'.repeat(900) })],
  [
    'a tool that is called with 9,000 members',
    json('/mcp/queue', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'queue_publish', arguments: { queue: 'jobs', payload: { ...many(9_000, (n) => `n${n}`) } } },
    }),
  ],
  ['a callback of a vendor of 1 MB', json('/v1/video/callbacks/nobody', { a: words(1e6) }, 404)],
  ['one message by SQS', () => signed('SendMessage', { QueueUrl: queueUrl(), MessageBody: words(2.5e5) })],
  ['ten messages by SQS', () => signed('SendMessageBatch', { QueueUrl: queueUrl(), Entries: many(10, entryOf) })],
  ['what Stripe never said', json('/webhooks/stripe', { a: words(2.5e5) }, 404)],
];

const queueUrl = () => `${service.url}/sqs/jobs`;
const entryOf = (n: number) => ({ Id: `m${n}`, MessageBody: words(1e5) });

function signed(action: string, input: object): Sent {
  const request = jsonRequest(action, input);
  return { path: '/sqs', headers: signedHeaders(service.url, request, sqs.key), body: request.body, status: 200 };
}

/** The longest turn of the best try. */
async function shortest(run: () => Promise<unknown>): Promise<number> {
  let turnMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && turnMs >= turnMsMax; tries += 1)
    turnMs = Math.min(turnMs, await longestTurn(run));
  return turnMs;
}

test.each(doors)(
  '%s',
  async (_, made) => {
    const sent = made();
    const run = async () => {
      const answer = await post(sent);
      expect(Number(answer.slice(9, 12)), answer).toBe(sent.status);
    };
    expect(await shortest(run)).toBeLessThan(allowedCpuMs(turnMsMax));
  },
  PATIENCE_MS,
);

test.each([
  ['one text', chat(words(15 * MIB))],
  ['10,000 texts', chat(texts('text'))],
  ['texts of other letters', chat(others)],
  ['a picture', chat([picture])],
])('a body of megabytes is encoded for a vendor: %s', async (_, value) => {
  const body = JSON.parse(JSON.stringify(value));
  expect(await shortest(() => encodeJson(body))).toBeLessThan(allowedCpuMs(turnMsMax));
});

/** The whole answer. The connection ends with it. */
function post({ method = 'POST', path, headers = {}, body = '' }: Sent): Promise<string> {
  const { hostname, port, host } = new URL(service.url);
  const own = {
    authorization: `Bearer ${account.secret}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const all = { host, connection: 'close', 'content-length': String(Buffer.byteLength(body)), ...own, ...headers };
  const head = Object.entries(all).map((pair) => pair.join(': '));
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      if (answer.length < 4_000) answer += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
    socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
    socket.write(body);
  });
}
