// Searches by the engines of the operator's file: what they answer, whom a failure leads to, and what a search costs.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { expectFailure } from '../support/envelope.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import {
  BRAVE_KEY,
  braveError,
  type EngineAnswer,
  type EngineDouble,
  startBrave,
  startSearxng,
} from './search-doubles.ts';

let folder: string;
let searxng: EngineDouble;
let brave: EngineDouble;
let service: TestService;
let call: Client;

beforeAll(async () => {
  [searxng, brave] = await Promise.all([startSearxng(), startBrave()]);
  folder = await mkdtemp(join(tmpdir(), 'qm-web-'));
  service = await serviceOfBoth();
  call = client(service.url, (await createTestAccount(service.core, 5)).secret);
});
beforeEach(() => {
  for (const { script } of [searxng, brave]) script.length = 0;
});
afterAll(async () => {
  await service.stop();
  await Promise.all([searxng.stop(), brave.stop(), rm(folder, { recursive: true })]);
});

async function serviceOfBoth(): Promise<TestService> {
  const file = join(folder, 'vendors.yaml');
  const vendors = [
    { id: 'own', adapter: 'searxng', base_url: searxng.url, priority: 10 },
    { id: 'brave', adapter: 'brave', base_url: brave.url, api_key: `\${BRAVE_KEY}`, price: 0.000_12, priority: 20 },
  ];
  await writeFile(file, stringify({ version: 1, vendors }));
  return startTestService({ env: { LOG_LEVEL: 'error', VENDORS_FILE: file, BRAVE_KEY } });
}

const search = (input: object) => call('POST', '/v1/web/search', { query: 'blue cat', ...input });

describe('web.search', () => {
  test('the first engine answers, in its order, for the price of the service', async () => {
    const { body } = await search({ count: 2, language: 'de-DE' });
    expect(body.data).toEqual({
      items: [
        { title: 'Result 0 of blue cat', url: 'https://example.org/0', snippet: 'List<T> & more of 0' },
        { title: 'Result 1 of blue cat', url: 'https://example.org/1', snippet: 'List<T> & more of 1' },
      ],
      vendor: 'own',
    });
    expect(body.metadata.cost_usd).toBe(0.0001);
    expect(Object.fromEntries(searxng.asked.at(-1)?.searchParams ?? [])).toEqual({
      q: 'blue cat',
      format: 'json',
      language: 'de-DE',
    });
  });

  test('a vendor can be pinned; its price is its own, with markup, and its markup is no text', async () => {
    const { body } = await search({ vendor: 'brave', count: 1, language: 'pt-BR' });
    expect(body.data).toEqual({
      items: [{ title: 'Brave 0', url: 'https://example.com/0', snippet: 'About blue cat & more' }],
      vendor: 'brave',
    });
    expect(body.metadata.cost_usd).toBe(0.000_126);
    expect(Object.fromEntries(brave.asked.at(-1)?.searchParams ?? [])).toMatchObject({ count: '1', search_lang: 'pt' });
  });

  test('nothing found is an empty list', async () => {
    expect((await search({ query: 'nothing', vendor: 'brave' })).body.data.items).toEqual([]);
  });

  test.each<[string, EngineAnswer]>([
    ['a page in place of JSON', 'html'],
    ['a lost connection', 'reset'],
    ['its json format is off', { status: 403, json: null }],
    ['too many requests', { status: 429, json: {} }],
    ['JSON of another shape', { status: 200, json: { results: 'none' } }],
  ])('an engine that fails is left for the next, whose price is charged: %s', async (_, answer) => {
    const fresh = await serviceOfBoth();
    try {
      const { secret } = await createTestAccount(fresh.core, 5);
      searxng.script.push(answer);
      const { body } = await client(fresh.url, secret)('POST', '/v1/web/search', { query: 'blue cat' });
      expect(body.data.vendor).toBe('brave');
      expect(body.metadata.cost_usd).toBe(0.000_126);
    } finally {
      await fresh.stop();
    }
  });

  test('what fails costs nothing and does not tell the key', async () => {
    brave.script.push(braveError(400, 'VALIDATION', `bad ${BRAVE_KEY}`));
    const reply = await search({ vendor: 'brave' });
    expectFailure(reply, service.url);
    expect(reply.text).not.toContain(BRAVE_KEY);
    expect(reply.body.metadata.cost_usd ?? 0).toBe(0);
  });

  test.each([
    [{ vendor: 'nobody' }, 'VENDOR_NOT_AVAILABLE'],
    [{ query: '' }, 'VALIDATION_FAILED'],
    [{ query: 'a'.repeat(401) }, 'VALIDATION_FAILED'],
    [{ count: 21 }, 'VALIDATION_FAILED'],
    [{ language: 'x; DROP' }, 'VALIDATION_FAILED'],
  ])('%j is refused: %s', async (input, code) => {
    expect((await search(input)).body.error.code).toBe(code);
  });
});

test('without an engine there is no search but in the sandbox, whose results are made up', async () => {
  const bare = await startTestService({ env: { LOG_LEVEL: 'error' } });
  try {
    const ask = client(bare.url, (await createTestAccount(bare.core, 1)).secret);
    const reply = await ask('POST', '/v1/web/search', { query: 'blue cat' });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'VENDOR_NOT_AVAILABLE']);
    const { body } = await ask('POST', '/v1/web/search', { query: 'blue cat', vendor: 'sandbox' });
    expect(body.data.items).toHaveLength(3);
  } finally {
    await bare.stop();
  }
});
