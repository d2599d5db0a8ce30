// Whatever is sent, a caller gets a catalogued 4xx that names the field at fault, at once, and nothing has changed. Each capability has one
// account that is sent it all, on which its example still succeeds afterwards.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesUnknownFields } from '../../src/gateway/endpoint.ts';
import type { Capability } from '../../src/kit/capability.ts';
import { refusesUnknownFields } from '../../src/manifest/describe.ts';
import { takesBody } from '../../src/manifest/failures.ts';
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
import { inProcess, type Outcome } from '../support/in-process.ts';
import { type Client, client, type Reply, type TestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { badInputs, type StrangeInput, strangeInputs } from './bad-inputs.ts';
import { type Body, brokenBodies } from './broken-bodies.ts';

const ids = capabilities.map(({ id }) => id);
let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
});

/**
 * How a body is read, which no capability has code of its own for: as a long one or not, with opaque values, with fields that are anything.
 * The first capability of each way is sent all that a body can be, the others `FEW` of it.
 */
const readings = new Map(
  capabilities.filter(takesBody).map(({ id, bulk, input, opaque, bodyBytesMax }) => {
    const isFree = takesUnknownFields(input);
    return [id, JSON.stringify([bulk !== undefined, isFree, (opaque ?? []).length > 0, bodyBytesMax])] as const;
  }),
);
const firstOfReading = new Set([...new Map([...readings].reverse().map(([id, reading]) => [reading, id])).values()]);
const FEW: ReadonlySet<string> = new Set(['half a JSON', '__proto__ inside', 'a form']);

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
  const send: Ready['send'] = (body, headers = {}, path = ownPath) =>
    call(method, path, body, { 'content-type': 'application/json', ...headers });
  return { account, call, valid, send };
}

function expectRefused(reply: Reply, what: string, param?: string): void {
  expect(reply.status, `${what}: ${reply.text}`).toBeGreaterThanOrEqual(400);
  expect(reply.status, `${what}: ${reply.text}`).toBeLessThan(500);
  expectFailure(reply, service.url);
  if (param !== undefined) expect(within(param, reply.body.error.param), `${what}: ${reply.text}`).toBe(true);
}

/** The same of an answer that came without HTTP. */
function expectRefusedInProcess({ status, text, body }: Outcome, what: string, param: string): void {
  expect(status >= 400 && status < 500, `${what}: ${text}`).toBe(true);
  expect(within(param, body.error.param), `${what}: ${text}`).toBe(true);
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
    const invoke = await inProcess(service, account.secret);
    const bad = badInputs(capability, valid);
    // What stands in the path or the query is text first; of a body one fault a field comes by HTTP.
    const seen = new Set<string>();
    for (const { title, input, field, place } of bad) {
      if (place === 'body' && seen.has(field)) expectRefusedInProcess(await invoke(id, input), title, field);
      else expectRefused(await callCapability(call, capability, input), title, field);
      seen.add(field);
    }
  });

  if (capability.method !== 'GET')
    test('a broken body', async () => {
      for (const [what, body, code, param, headers] of brokenBodies) {
        if (!firstOfReading.has(id) && !FEW.has(what)) continue;
        const reply = await send(body, headers);
        expectRefused(reply, what, param);
        expect(reply.body.error.code, what).toBe(code);
      }
    });

  if (capability.method !== 'GET')
    test('a body that is too large, announced or not', async () => {
      const bytesMax = capability.bodyBytesMax ?? 64 * 1024;
      const large = Buffer.alloc(bytesMax + 1, ' ');
      for (const body of firstOfReading.has(id) ? [large, Readable.from([large])] : [large]) {
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
      const inHeader = firstOfReading.has(id) ? ['', 'k'.repeat(256), 'kéy', 'a\tb'] : ['k'.repeat(256)];
      const inInput = firstOfReading.has(id)
        ? ['', 'k'.repeat(256), 'kéy', 'a\nb', '\0', '𝒳', ...(isDelete ? [] : [null, 7, ['a'], {}])]
        : ['a\nb'];
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

  test('strange text is refused, or is text; an unknown field is refused, or named in a warning on request', async () => {
    const loose = await ready(id, endVideosOf);
    for (const strange of strangeInputs(capability, loose.valid)) await sendStrange(loose.call, capability, strange);
    const names = ['surprise', 'constructor', 'toString', 'hasOwnProperty'];
    const unknown = Object.fromEntries(names.map((name) => [name, '1']));
    const ignoring = { 'x-qm-unknown-fields': 'warn' };
    const reply = await callCapability(loose.call, capability, { ...loose.valid, ...unknown }, ignoring);
    // A free-form body has no field that could be unknown.
    if (takesUnknownFields(capability.input))
      expect([reply.status, reply.body.metadata.warnings]).toEqual([200, undefined]);
    for (const name of takesUnknownFields(capability.input) ? [] : names) {
      if (refusesUnknownFields(capability))
        expectRefused(await callCapability(loose.call, capability, { ...loose.valid, [name]: '1' }), name, name);
      if (capability.scope === 'admin' && refusesUnknownFields(capability)) expectRefused(reply, name);
      else expect(reply.body.metadata.warnings, reply.text).toContainEqual(expect.stringContaining(`${name}: `));
    }
  });
});

/** All fields at once hold strange text; one that is refused for it is as it was, and the others are sent again. */
async function sendStrange(
  call: Client,
  capability: Capability,
  { title, valid, fields }: StrangeInput,
): Promise<void> {
  let left = new Map(Object.entries(fields));
  while (left.size > 0) {
    const reply = await callCapability(call, capability, { ...valid, ...Object.fromEntries(left) });
    if (reply.status === 200) return;
    const what = `${title} in ${[...left.keys()]}`;
    expectRefused(reply, what);
    const refused = [...left.keys()].filter((field) => within(field, reply.body.error.param));
    // What names no field is told of all of them: each is sent alone.
    if (refused.length === 0) return sendEach(call, capability, { title, valid, fields: Object.fromEntries(left) });
    left = new Map([...left].filter(([field]) => !refused.includes(field)));
  }
}

async function sendEach(call: Client, capability: Capability, { title, valid, fields }: StrangeInput): Promise<void> {
  for (const [field, value] of Object.entries(fields)) {
    const reply = await callCapability(call, capability, { ...valid, [field]: value });
    if (reply.status !== 200) expectRefused(reply, `${title} in ${field}`);
  }
}
