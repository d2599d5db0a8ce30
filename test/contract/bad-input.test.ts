// Whatever is sent, a caller gets a catalogued 4xx that names the field at fault, at once, and nothing has changed. Each capability has one
// account that is sent it all, on which its example still succeeds afterwards.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesUnknownFields } from '../../src/gateway/endpoint.ts';
import { refusesUnknownFields } from '../../src/manifest/describe.ts';
import { accountRows } from '../support/account-rows.ts';
import {
  byId,
  callCapability,
  capabilities,
  createPlayer,
  endVideosAfter,
  httpCall,
  type Input,
  prepareExample,
} from '../support/capabilities.ts';
import { expectFailure } from '../support/envelope.ts';
import {
  type Client,
  client,
  type Reply,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { badInputs } from './bad-inputs.ts';
import { type Body, brokenBodies } from './broken-bodies.ts';

const ANSWER_MS_MAX = 5_000;
const ids = capabilities.map(({ id }) => id);
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

interface Ready {
  readonly account: TestAccount;
  readonly call: Client;
  readonly valid: Input;
  /** The request with something else as body, or with further headers. */
  send(body: Body | Readable | undefined, headers?: Record<string, string>, path?: string): Promise<Reply>;
}

/** An account on which the first example of the capability is about to succeed. */
async function ready(id: string, endVideosOf: (call: Client) => Client): Promise<Ready> {
  const account = await createPlayer(service.core, byId(id));
  const call = endVideosOf(client(service.url, account.secret));
  const valid = await prepareExample(call, byId(id));
  const { method, path: ownPath } = httpCall(byId(id), valid);
  const send: Ready['send'] = async (body, headers = {}, path = ownPath) => {
    const begunMs = performance.now();
    const reply = await call(method, path, body, { 'content-type': 'application/json', ...headers });
    expect(performance.now() - begunMs).toBeLessThan(ANSWER_MS_MAX);
    return reply;
  };
  return { account, call, valid, send };
}

function expectRefused(reply: Reply, what: string, param?: string): void {
  expect(reply.status, `${what}: ${reply.text}`).toBeGreaterThanOrEqual(400);
  expect(reply.status, `${what}: ${reply.text}`).toBeLessThan(500);
  expectFailure(reply, service.url);
  if (param !== undefined) expect(within(param, reply.body.error.param), `${what}: ${reply.text}`).toBe(true);
}

/** Whether `param` is the field or something within it. */
function within(field: string, param: string | undefined): boolean {
  return param === field || param?.startsWith(`${field}[`) === true || param?.startsWith(`${field}.`) === true;
}

const header = (value: string) => ({ 'idempotency-key': value });
/** What is deleted may have any text for its name. */
const takesAnyText: ReadonlySet<string> = new Set(['analytics.person.delete']);
const segments = [
  '%',
  '%zz',
  '%E0%A4%A',
  '%ff',
  '%00',
  '%2e%2e',
  '%2F',
  '%0d%0aX: y',
  'a%20b',
  'a'.repeat(1025),
  'a'.repeat(8000),
  '__proto__',
];
const cursors = ['abc', 'AAAA', Buffer.alloc(40, 1).toString('base64url'), '%00', '../..', 'é', 'a'.repeat(4096), '[]'];

describe.each(ids)('%s', (id) => {
  const capability = byId(id);
  const endVideosOf = endVideosAfter(afterAll);
  let account: TestAccount;
  let call: Client;
  let valid: Input;
  let send: Ready['send'];
  let before: Record<string, string>;

  beforeAll(async () => {
    ({ account, call, valid, send } = await ready(id, endVideosOf));
    before = await accountRows(service.core.db, account.accountId);
  });

  test('a field that breaks its schema', async () => {
    for (const { title, input, field } of badInputs(capability, valid).filter(({ lenient }) => lenient !== true)) {
      expectRefused(await callCapability(call, capability, input), title, field);
    }
  });

  if (capability.method !== 'GET')
    test('a broken body', async () => {
      for (const [what, body, code, param, headers] of brokenBodies) {
        const reply = await send(body, headers);
        expectRefused(reply, what, param);
        expect(reply.body.error.code, what).toBe(code);
      }
    });

  if (capability.method !== 'GET')
    test('a body that is too large, announced or not', async () => {
      const bytesMax = capability.bodyBytesMax ?? 64 * 1024;
      const large = Buffer.alloc(bytesMax + 1, ' ');
      for (const body of [large, Readable.from([large])]) {
        const reply = await send(body);
        expectRefused(reply, 'too large');
        expect(reply.body.error).toMatchObject({
          code: 'PAYLOAD_TOO_LARGE',
          message: expect.stringContaining(String(bytesMax)),
        });
      }
    });

  if (capability.idempotent)
    test('an idempotency key of no characters, 256, other than ASCII, no text, two different ones', async () => {
      const isDelete = capability.method === 'DELETE';
      const { path } = httpCall(capability, valid);
      const other = `${path}${path.includes('?') ? '&' : '?'}idempotency_key=b`;
      const inHeader = ['', 'k'.repeat(256), 'kéy', 'a\tb'];
      const inInput = ['', 'k'.repeat(256), 'kéy', 'a\nb', '\0', '𝒳', ...(isDelete ? [] : [null, 7, ['a'], {}])];
      const replies = await Promise.all([
        ...inHeader.map((key) => callCapability(call, capability, valid, header(key))),
        ...inInput.map((key) => callCapability(call, capability, { ...valid, idempotency_key: key })),
        isDelete
          ? send(undefined, header('a'), other)
          : callCapability(call, capability, { ...valid, idempotency_key: 'a' }, header('b')),
      ]);
      for (const reply of replies) {
        expectRefused(reply, 'idempotency key', 'idempotency_key');
        expect(reply.body.error.code).toBe('INVALID_IDEMPOTENCY_KEY');
      }
    });

  if ('cursor' in capability.input.properties)
    test('a cursor that is not its own, a limit out of range', async () => {
      for (const cursor of cursors) {
        const reply = await callCapability(call, capability, { ...valid, cursor });
        expectRefused(reply, cursor, 'cursor');
        expect(reply.body.error.code).toBe('INVALID_CURSOR');
      }
      for (const limit of [0, 101, -1, 1.5, 'abc', '', '1,2', '99999999999999999999']) {
        expectRefused(await callCapability(call, capability, { ...valid, limit }), `limit ${limit}`, 'limit');
      }
    });

  if (capability.path.includes('{'))
    test('what cannot be an id', async () => {
      const base = capability.path.replace(/\{.*/, '');
      for (const segment of segments) {
        const reply = await send(undefined, {}, base + segment);
        if (reply.status === 200 && (/^(a|_)/.test(segment) || takesAnyText.has(capability.id))) continue;
        expectRefused(reply, segment.slice(0, 40));
      }
    });

  test('nothing has changed, and its example succeeds', async () => {
    expect(await accountRows(service.core.db, account.accountId)).toEqual(before);
    expect((await callCapability(call, capability, valid)).body).toMatchObject({ ok: true });
  });

  test('strange text is refused, or is text; an unknown field is refused, or named in a warning', async () => {
    const loose = await ready(id, endVideosOf);
    for (const { title, input } of badInputs(capability, loose.valid).filter(({ lenient }) => lenient === true)) {
      const reply = await callCapability(loose.call, capability, input);
      if (reply.status !== 200) expectRefused(reply, title);
    }
    for (const name of ['surprise', 'constructor', 'toString', 'hasOwnProperty']) {
      const reply = await callCapability(loose.call, capability, { ...loose.valid, [name]: '1' });
      if (refusesUnknownFields(capability)) expectRefused(reply, name, name);
      // A free-form body has no field that could be unknown.
      else if (takesUnknownFields(capability.input))
        expect([reply.status, reply.body.metadata.warnings]).toEqual([200, undefined]);
      else expect(reply.body.metadata.warnings, reply.text).toContainEqual(expect.stringContaining(`${name}: `));
    }
  });
});
