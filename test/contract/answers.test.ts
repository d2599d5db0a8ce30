// An answer is whole before its status is set: what fails on the way out is a failure on the wire, too.
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import type { RawAnswer, RawRoute } from '../../src/kit/raw-route.ts';
import { expectFailure } from '../support/envelope.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const capability = (operation: string, answer: Answer) =>
  defineCapability()({
    method: 'GET',
    path: `/v1/broken/${operation}`,
    summary: 'Answers what JSON cannot hold.',
    description: 'Answers what JSON cannot hold.',
    input: Type.Object({}),
    output: Type.Object({}),
    examples: [{ title: 'One', input: {} }],
    run: async () => answer,
  });

const unsendable = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'set-cookie': 'left=over' },
  body: { no: 'text' },
} as unknown as RawAnswer;

const route = (operation: string, more: Partial<RawRoute> = {}): RawRoute => ({
  name: `broken.${operation}`,
  methods: ['GET'],
  path: `/broken/${operation}`,
  capability: 'broken.free',
  bodyBytesMax: 1024,
  answer: async () => unsendable,
  ...more,
});

const told: RawAnswer = { status: 500, headers: { 'content-type': 'text/plain' }, body: 'told its own way' };
const broken = defineModule({
  name: 'broken',
  summary: 'Fails on the way out.',
  status: 'beta',
  capabilities: [
    capability('free', { data: { count: 1n } }),
    capability('vendor', {
      data: {},
      served: { vendor: 'acme', region: 'china', markupPct: 0.05, cacheLayer: 'l1_miss' },
    }),
    capability('failover', {
      data: {},
      served: {
        vendor: 'beta',
        failover: {
          primaryVendor: 'acme',
          primaryModel: 'a-1',
          actualModel: 'b-2',
          costAtPrimaryNanos: 200_000_000n,
          costAtActualNanos: 300_000_000n,
          reason: 'VENDOR_DOWN',
          depth: 1,
        },
      },
    }),
    capability('billed', { data: { count: 1n }, costNanos: 20_000n }),
  ],
  rawRoutes: [route('raw'), route('told', { refuse: () => told })],
});

let service: TestService;
let call: Client;

beforeAll(async () => {
  service = await startTestService({ extraModules: [broken] });
  call = client(service.url, (await createTestAccount(service.core)).secret);
});
afterAll(() => service.stop());

async function counted(name: string): Promise<string[]> {
  const { text } = await client(service.url)('GET', '/metrics');
  return text.split('\n').filter((line) => line.startsWith(`qm_calls_total{capability="${name}"`));
}

describe.each(['free', 'billed'])('an answer of a %s call that cannot be written as JSON', (operation) => {
  test('is a 500 in status, envelope and metrics', async () => {
    const reply = await call('GET', `/v1/broken/${operation}`);
    expect([reply.status, reply.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
    expectFailure(reply, service.url);
    expect(await counted(`broken.${operation}`)).toEqual([
      `qm_calls_total{capability="broken.${operation}",status="500"} 1`,
    ]);
  });
});

describe('an answer of another protocol that cannot be sent', () => {
  test('is a 500 in the envelope, without the headers of the answer', async () => {
    const reply = await call('GET', '/broken/raw');
    expect([reply.status, reply.body?.error.code]).toEqual([500, 'INTERNAL_ERROR']);
    expectFailure(reply, service.url);
    expect(reply.headers.get('set-cookie')).toBeNull();
  });

  test('is told as its protocol tells failures', async () => {
    const reply = await call('GET', '/broken/told');
    expect([reply.status, reply.text, reply.headers.get('set-cookie')]).toEqual([500, told.body, null]);
    expect(reply.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await counted('broken.told')).toEqual(['qm_calls_total{capability="broken.told",status="500"} 1']);
  });
});

describe('metadata', () => {
  const served = async (operation: string) => {
    const { metadata } = (await call('GET', `/v1/broken/${operation}`)).body;
    const { vendor, vendor_region, markup_pct, cache_layer, failover_info } = metadata;
    return { vendor, vendor_region, markup_pct, cache_layer, failover_info };
  };

  test('names the vendor that did the work, its region, the markup and the layer of the cache', async () => {
    const plain = { markup_pct: 0, cache_layer: 'none', failover_info: undefined };
    const { metadata } = (await call('GET', '/v1/account/balance')).body;
    expect(metadata).toMatchObject({ vendor: 'self', vendor_region: 'western', markup_pct: 0, cache_layer: 'none' });
    expect(await served('vendor')).toEqual({
      ...plain,
      vendor: 'acme',
      vendor_region: 'china',
      markup_pct: 0.05,
      cache_layer: 'l1_miss',
    });
  });

  test('says which vendor was to be asked first, and what that would have cost', async () => {
    const { vendor, vendor_region, failover_info } = await served('failover');
    expect([vendor, vendor_region]).toEqual(['beta', 'western']);
    expect(failover_info).toEqual({
      primary_vendor: 'acme',
      actual_vendor: 'beta',
      primary_model: 'a-1',
      actual_model: 'b-2',
      cost_at_primary: 0.2,
      cost_at_actual: 0.3,
      cost_multiplier: 1.5,
      failover_reason: 'VENDOR_DOWN',
      fallback_chain_depth: 1,
    });
  });
});
