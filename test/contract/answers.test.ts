// An answer is whole before its status is set: what fails on the way out is a failure on the wire, too.
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Capability } from '../../src/manifest/capability.ts';
import { defineModule } from '../../src/manifest/module.ts';
import type { RawAnswer, RawRoute } from '../../src/manifest/raw-route.ts';
import { expectFailure } from '../support/envelope.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const capability = (operation: string, answer: Answer): Capability => ({
  id: `broken.${operation}`,
  method: 'GET',
  path: `/v1/broken/${operation}`,
  summary: 'Answers what JSON cannot hold.',
  description: 'Answers what JSON cannot hold.',
  input: Type.Object({}),
  output: Type.Object({}),
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: [],
  events: [],
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
    capability('free', { data: { figure: 1n } }),
    capability('billed', { data: { figure: 1n }, costNanos: 20_000n }),
  ],
  rawRoutes: [route('raw'), route('told', { refuse: () => told })],
  start: () => undefined,
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
  test('is a 500 in status, envelope and figures', async () => {
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
