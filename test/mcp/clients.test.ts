// MCP as the official clients of both generations speak it: what is listed for whom, and what calls answer.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolName } from '../../src/kit/capability.ts';
import { partsOf } from '../../src/manifest/parts.ts';
import { capabilities, manifest } from '../support/capabilities.ts';
import { connectMcp, generations, type McpClient } from '../support/mcp.ts';
import {
  client,
  createTestAccount,
  createTestOperator,
  startTestService,
  type TestService,
} from '../support/service.ts';

let service: TestService;
const open: McpClient[] = [];
beforeAll(async () => {
  // own service: makes an operator
  service = await startTestService();
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await service.stop();
});

async function connect(path: string, secret: string, generation = generations[0] as (typeof generations)[number]) {
  const connected = await connectMcp(generation, service.url + path, secret);
  open.push(connected);
  return connected;
}

const tokensOf = (tools: unknown[]) => Buffer.byteLength(JSON.stringify({ tools })) / 4;
const namesOf = (tools: { name: string }[]) => tools.map(({ name }) => name);

describe.each(generations)('a client of revision %s', (generation) => {
  test('finds, reads and calls a capability through the four tools of /mcp', async () => {
    const { secret, accountId } = await createTestAccount(service.core);
    const mcp = await connect('/mcp', secret, generation);
    expect(namesOf(await mcp.tools())).toEqual([
      'search_capabilities',
      'describe_capability',
      'call_capability',
      'get_account',
    ]);
    const found = await mcp.call('search_capabilities', { query: 'publish a message to a queue' });
    expect(found.structuredContent.data.items[0]).toMatchObject({ id: 'queue.publish', price: expect.any(String) });
    const described = await mcp.call('describe_capability', { id: 'queue.create' });
    expect(described.structuredContent.data).toMatchObject({
      id: 'queue.create',
      may_call: true,
      scope: 'queue:write',
    });
    await mcp.call('call_capability', { id: 'queue.create', input: { name: 'jobs' } });
    const published = await mcp.call('call_capability', {
      id: 'queue.publish',
      input: { queue: 'jobs', payload: { n: 1 }, idempotency_key: 'once' },
    });
    const { data, metadata } = published.structuredContent;
    expect(metadata).toMatchObject({ entry_form: 'mcp', idempotent_replay: false });
    expect(metadata.cost_usd).toBeGreaterThan(0);
    expect(JSON.parse(published.content[0]?.text ?? '')).toEqual(published.structuredContent);
    // The same key by REST is the same request.
    const again = await client(service.url, secret)('POST', '/v1/queue/publish', {
      queue: 'jobs',
      payload: { n: 1 },
      idempotency_key: 'once',
    });
    expect(again.body.data).toEqual(data);
    expect(again.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    const account = await mcp.call('get_account');
    expect(account.structuredContent.data).toMatchObject({
      account_id: accountId,
      scopes: ['*'],
      balance: expect.any(Object),
      budget: expect.any(Object),
      modules: expect.arrayContaining(['queue', 'vector', 'account']),
    });
  });

  test('a failed call is a result with the whole error; a tool that there is not is an error of the protocol', async () => {
    const { secret } = await createTestAccount(service.core);
    const mcp = await connect('/mcp/queue', secret, generation);
    const wrong = await mcp.call('queue_publish', { queue: 'no-such-queue', payload: {} });
    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: { error: { http_status: 404, retryable: false } },
    });
    const invalid = await mcp.call('queue_create', { name: 5 });
    expect(invalid.structuredContent.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'name' });
    expect(invalid.structuredContent.error.docs_url).toContain('/docs/errors/VALIDATION_FAILED');
    await expect(mcp.call('queue_publis', {})).rejects.toThrow(
      /There is no tool "queue_publis" here. Did you mean queue_publish/,
    );
    await expect(mcp.call('vector_query', {})).rejects.toThrow(/no tool/);
  });

  test('documents are read as resources', async () => {
    const { secret } = await createTestAccount(service.core);
    const mcp = await connect('/mcp', secret, generation);
    expect(await mcp.read('docs://llms')).toContain('# Quartermaster');
    expect(await mcp.read('docs://module/queue')).toMatch(/^# Quartermaster: queue\n[\s\S]*queue\.publish/);
    expect(await mcp.read('docs://error/INSUFFICIENT_CREDIT')).toMatch(
      /^# INSUFFICIENT_CREDIT$[\s\S]*HTTP status: 402[\s\S]*## What to do/m,
    );
    for (const uri of [
      'docs://module/none',
      'docs://error/toString',
      'file:///etc/passwd',
      `docs://${'x'.repeat(9_000)}`,
    ])
      await expect(mcp.read(uri), uri.slice(0, 30)).rejects.toThrow();
  });
});

describe('what is listed', () => {
  test('costs a prompt at most 1,200 tokens at /mcp and 8,000 for a module, in an order that stays', async () => {
    const { secret } = await createTestOperator(service.core, 0);
    expect(tokensOf(await (await connect('/mcp', secret)).tools())).toBeLessThanOrEqual(1_200);
    for (const { name, capabilities: own } of manifest.modules.flatMap(partsOf)) {
      const tools = await (await connect(`/mcp/${name}`, secret)).tools();
      expect(tokensOf(tools), name).toBeLessThanOrEqual(8_000);
      const ofKeys = own.filter(({ gates }) => gates?.includes('person') !== true);
      expect(namesOf(tools), name).toEqual([...ofKeys.map(({ id }) => toolName(id)), 'get_account']);
    }
    const all = await (await connect('/mcp/all', secret)).tools();
    const guide = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
    const told = [...guide.matchAll(/`\/mcp\/all`[^\n]*?some ([\d,]+)/g)].map(([, number = '']) => number);
    expect(told).toHaveLength(2);
    for (const number of told) {
      const share = Number(number.replace(',', '')) / tokensOf(all);
      expect(Math.abs(share - 1), `docs/mcp.md says ${number} tokens of ${tokensOf(all)}`).toBeLessThan(0.1);
    }
    expect(namesOf(all)).toEqual([...capabilities.map(({ id }) => toolName(id)), 'get_account']);
    expect(namesOf(await (await connect('/mcp/vector,queue', secret)).tools())).toEqual(
      namesOf(await (await connect('/mcp/queue,vector,queue', secret)).tools()),
    );
  });

  test('is what the scopes of the key allow, whatever the address; one module’s key gets its tools at /mcp', async () => {
    const { secret } = await createTestAccount(service.core, 1, ['queue:read']);
    const reads = capabilities.filter(({ id, scope }) => id.startsWith('queue.') && scope === 'read');
    const expected = [...reads.map(({ id }) => toolName(id)), 'get_account'];
    expect(namesOf(await (await connect('/mcp', secret)).tools())).toEqual(expected);
    expect(namesOf(await (await connect('/mcp/queue', secret)).tools())).toEqual(expected);
    const mcp = await connect('/mcp/all', secret);
    const others = namesOf(await mcp.tools()).filter((name) => !expected.includes(name));
    expect(others.filter((name) => manifest.byId.get(name.replaceAll('_', '.'))?.anyKey === false)).toEqual([]);
    expect(others).not.toContain('account_balance');
    const refused = await mcp.call('queue_create', { name: 'jobs' });
    expect(refused.structuredContent.error).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    const { data } = (await mcp.call('get_account')).structuredContent;
    expect(data.scopes).toEqual(['queue:read']);
    expect(data).not.toHaveProperty('balance');
  });

  test('?read_only=true leaves reads, and refuses what changes something', async () => {
    const { secret } = await createTestAccount(service.core);
    const tools = await (await connect('/mcp/queue?read_only=true', secret)).tools();
    expect(tools.length).toBeGreaterThan(2);
    for (const { annotations } of tools) expect(annotations.readOnlyHint).toBe(true);
    const mcp = await connect('/mcp?read_only=true', secret);
    const refused = await mcp.call('call_capability', { id: 'queue.create', input: { name: 'jobs' } });
    expect(refused.structuredContent.error).toMatchObject({ code: 'INSUFFICIENT_SCOPE', code_detail: 'read_only' });
    const listed = await mcp.call('call_capability', { id: 'queue.list' });
    expect(listed.structuredContent.data.items).toEqual([]);
  });

  test('hints follow from the manifest', async () => {
    const { secret } = await createTestAccount(service.core);
    const tools = await (await connect('/mcp/all', secret)).tools();
    const hintsOf = (name: string) => tools.find((each) => each.name === name)?.annotations;
    expect(hintsOf('queue_list')).toEqual({ readOnlyHint: true, idempotentHint: true, openWorldHint: false });
    expect(hintsOf('queue_publish')).toEqual({ destructiveHint: false, openWorldHint: false });
    // Destructive is what the protocol takes for granted.
    expect(hintsOf('queue_purge')).toEqual({ openWorldHint: false });
    expect(hintsOf('vector_delete')).not.toHaveProperty('destructiveHint');
    expect(hintsOf('queue_subscribe')).not.toHaveProperty('openWorldHint');
    expect(hintsOf('video_generate')).not.toHaveProperty('openWorldHint');
    for (const { description, inputSchema } of tools) {
      expect(description.length).toBeLessThanOrEqual(260);
      for (const field of Object.values(inputSchema.properties as Record<string, { description?: string }>))
        expect(field.description?.length ?? 0).toBeLessThanOrEqual(200);
    }
  });
});

test('select keeps parts of data where they were, and is checked before anything is done', async () => {
  const { secret } = await createTestAccount(service.core);
  const mcp = await connect('/mcp/queue', secret);
  const created = await mcp.call('queue_create', { name: 'jobs', select: ['/name'] });
  expect(created.structuredContent.data).toEqual({ name: 'jobs' });
  for (const select of [
    ['name'],
    ['/a~2b'],
    [5],
    'name',
    Array.from({ length: 51 }, () => '/name'),
    [`/${'x'.repeat(500)}`],
  ]) {
    const refused = await mcp.call('queue_create', { name: 'others', select });
    expect(refused.structuredContent.error.code).toBe('VALIDATION_FAILED');
    expect(refused.structuredContent.error.param).toMatch(/^select/);
  }
  const listed = await mcp.call('queue_list', { select: ['/items/0/name', '/has_more'] });
  expect(listed.structuredContent.data).toEqual({ items: [{ name: 'jobs' }], has_more: false });
});

test('what is longer than 64 KiB is cut at its longest strings, which are named', async () => {
  const { secret } = await createTestAccount(service.core);
  const mcp = await connect('/mcp/queue', secret);
  await mcp.call('queue_create', { name: 'jobs' });
  const payload = { short: 'kept', 'a/b': '𝄞'.repeat(25_000), other: 'y'.repeat(50_000) };
  await client(service.url, secret)('POST', '/v1/queue/publish', { queue: 'jobs', payload: { ...payload } });
  const { content, structuredContent } = await mcp.call('queue_consume', { queue: 'jobs' });
  expect(content[0]?.text?.length).toBeLessThanOrEqual(64 * 1024);
  expect(structuredContent.truncated).toEqual(['/items/0/payload/a~1b', '/items/0/payload/other']);
  const [item] = structuredContent.data.items;
  expect(item.payload.short).toBe('kept');
  expect(item.payload.other.length).toBeGreaterThan(25_000);
  expect(item.payload['a/b'].isWellFormed()).toBe(true);
});

test('a client that leaves ends the call that it waited for', async () => {
  const { secret } = await createTestAccount(service.core);
  const mcp = await connect('/mcp/queue', secret, '2026-07-28');
  await mcp.call('queue_create', { name: 'jobs' });
  const leaving = new AbortController();
  const waiting = mcp.call('queue_consume', { queue: 'jobs', wait_seconds: 20 }, leaving.signal);
  const call = client(service.url, secret);
  // sleeps: the call has come to where it waits; one that is aborted before passes as well.
  await new Promise((resolve) => setTimeout(resolve, 200));
  leaving.abort();
  await expect(waiting).rejects.toThrow();
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });
  // Nobody took it meanwhile.
  const { body } = await call('POST', '/v1/queue/consume', { queue: 'jobs', wait_seconds: 5 });
  expect(body.data.items).toHaveLength(1);
});
