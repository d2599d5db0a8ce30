// What agents read: the worked examples of /llms/{module}.txt run as they stand there, and discovery finds what they look for.
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { partsOf } from '../../src/manifest/parts.ts';
import { atSite, createPlayer, endVideosAfter, manifest } from '../support/capabilities.ts';
import { expectFailure } from '../support/envelope.ts';
import { type Client, client, createTestAccount, createTestOperator } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const endVideosOf = endVideosAfter(afterEach);
let service: SharedService;
let secret: string;
beforeAll(async () => {
  service = await sharedService();
  secret = (await createTestAccount(service.core)).secret;
});

/** What an agent has to do in a day, with words it would ask by, and the calls that do it. */
const day: readonly (readonly [string, readonly string[]])[] = [
  ['queue with a dead letter queue', ['queue.create', 'queue.publish']],
  ['receive messages and acknowledge them', ['queue.consume', 'queue.ack']],
  ['run a job every night', ['cron.create']],
  ['delay a message', ['queue.publish']],
  ['store embeddings and search by similarity', ['vector.collection.create', 'vector.upsert', 'vector.query']],
  ['ask a language model', ['ai.chat']],
  ['make a video of a prompt', ['video.generate', 'video.status']],
  ['report an exception', ['errors.capture']],
  ['list errors of an environment', ['errors.list']],
  ['send log records', ['logs.ingest', 'logs.search']],
  ['query metrics', ['metrics.query']],
  ['capture a product event', ['analytics.capture']],
  ['feature flag for ten percent', ['flags.create', 'flags.update']],
  ['send an e-mail', ['email.send']],
  ['send a text message', ['sms.send']],
  ['upload a file', ['storage.object.put']],
  ['resize an image', ['image.transform']],
  ['read a web page as markdown', ['web.fetch']],
  ['create a narrow api key', ['account.keys.create']],
  ['register a webhook', ['account.webhooks.register']],
];

const sent = async (body: string) => (await atSite(JSON.parse(body))) as object;

/** For what a block waits for. */
const WAIT = { timeout: 60_000, interval: 100 };

/** Sends the requests of a block in order, with what earlier ones answered put in. */
async function send(call: Client, block: string): Promise<void> {
  const answers: unknown[] = [];
  for (const line of block.trim().split('\n')) {
    const [, method = '', path = '', body = '', until = '{}', refused] =
      /^(\w+) (\S+)(?: (\{.*?\}))?(?: # until (.*))?(?: # answers (\w+))?$/.exec(line) ?? [];
    const filled = (text: string) =>
      text.replaceAll(/\$(\d+)\.([\w.[\]]+)/g, (_, step: string, at: string) =>
        String(valueAt(answers[Number(step)], at)),
      );
    const wanted = JSON.parse(until) as object;
    await vi.waitFor(async () => {
      const { body: reply } = await call(method, filled(path), body === '' ? undefined : await sent(filled(body)));
      expect(reply, line).toMatchObject(
        refused === undefined ? { ok: true, data: wanted } : { error: { code: refused } },
      );
      answers.push(reply.data ?? reply.error);
    }, WAIT);
  }
}

function valueAt(data: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .reduce((value, part) => (value as Record<string, unknown>)[part], data);
}

test.each(manifest.modules.flatMap(partsOf))('the worked examples of $name run', async ({ name, capabilities }) => {
  const text = (await (await fetch(`${service.url}/llms/${name}.txt`)).text()) as string;
  const blocks = [...text.matchAll(/```http\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(2);
  for (const block of blocks) {
    const player = await createPlayer(service.core, capabilities[0] ?? {});
    await send(endVideosOf(client(service.url, player.secret)), block);
  }
});

describe('discovery', () => {
  const ask = async (query: string, key = secret) => client(service.url, key)('GET', `/v1/discovery${query}`);

  test('finds what an engineer types, in few words', async () => {
    const { body } = await ask('?q=delay+a+message&view=brief&limit=3');
    expect(body.data).toMatchObject({ service: 'quartermaster', total: expect.any(Number) });
    expect(body.data.capabilities).toHaveLength(3);
    expect(body.data.capabilities[0]).toEqual({
      id: 'queue.publish',
      summary: 'Publishes a message.',
      price: '0.00002 USD per message',
    });
    expect(JSON.stringify(body.data).length).toBeLessThan(1_000);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=many', 'limit'],
    ['billable=maybe', 'billable'],
    ['view=full', 'view'],
    ['module=queues', 'module'],
    ['module=queue&module=vector', 'module'],
    ['module=operator', 'module'],
    [`q=${'x'.repeat(501)}`, 'q'],
  ])('?%.20s is refused, naming %s', async (query, param) => {
    const reply = await ask(`?${query}`);
    expectFailure(reply, service.url);
    expect(reply.body.error).toMatchObject({ code: 'VALIDATION_FAILED', http_status: 400, param });
  });

  test('shows the module operator to its own keys only', async () => {
    const operator = await createTestOperator(service.core);
    const { body } = await ask('?module=operator&view=brief', operator.secret);
    expect(body.data.capabilities.length).toBe(body.data.total);
    expect(body.data.capabilities[0].id).toMatch(/^operator\./);
    const found = (await ask('?q=suspend+a+customer')).body.data.capabilities as { module: string }[];
    expect(found.filter(({ module }) => module === 'operator')).toEqual([]);
  });

  test('a stream is found like a call, and described', async () => {
    const { capabilities } = (await ask('?q=follow+log+records+live&view=brief&limit=3')).body.data;
    expect(capabilities).toContainEqual(expect.objectContaining({ id: 'logs.tail', price: 'free', stream: true }));
    const { data } = (await ask('/logs.tail')).body;
    expect(data).toMatchObject({ path: '/v1/logs/tail', stream: true, request_schema: { type: 'object' } });
  });

  test('what no capability does gets a sentence', async () => {
    expect((await ask('?q=xylophone')).body.data).toMatchObject({
      total: 0,
      message: expect.stringMatching(/^No capability fits\. The modules are account, ai, /),
    });
  });

  test('nine capabilities of ten are described in at most 4 KB', async () => {
    const sizes: number[] = [];
    for (const { id } of manifest.capabilities) {
      const answer = await fetch(`${service.url}/v1/discovery/${id}`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      sizes.push((await answer.arrayBuffer()).byteLength);
    }
    sizes.sort((one, other) => one - other);
    expect(sizes[Math.floor(sizes.length * 0.9)]).toBeLessThanOrEqual(4_096);
  });

  test.each([
    ['errors.capture', [{ client: 'Sentry SDKs', address: 'https://KEY@HOST/v1/errors/sentry/1' }]],
    ['queue.subscribe', []],
  ])('says who else may call %s', async (id, clients) => {
    expect((await ask(`/${id}`)).body.data.also_via).toEqual(clients);
  });

  test('names the address of this service to other clients', async () => {
    const { also_via } = (await ask('/ai.chat')).body.data;
    expect(also_via).toEqual([
      { client: "OpenAI's clients", address: `${service.url}/v1` },
      { client: "Claude Code and Anthropic's clients", address: service.url },
    ]);
  });
});

test('the work of a day takes at most 25,000 tokens of reading', async () => {
  let bytes = 0;
  const read = async (path: string) => {
    const text = await (await fetch(service.url + path, { headers: { authorization: `Bearer ${secret}` } })).text();
    bytes += Buffer.byteLength(text);
    return text;
  };
  await read('/llms.txt');
  const known = new Set<string>();
  for (const [question, calls] of day) {
    const { data } = JSON.parse(await read(`/v1/discovery?q=${encodeURIComponent(question)}&view=brief&limit=3`));
    const found = (data.capabilities as { id: string }[]).map(({ id }) => id);
    expect({ question, found }).toMatchObject({ found: expect.arrayContaining([calls[0]]) });
    for (const id of calls) if (!known.has(id)) await read(`/docs/capabilities/${id}.md`);
    for (const id of calls) known.add(id);
  }
  expect(bytes / 4).toBeLessThanOrEqual(25_000);
});
