// Whatever is sent, a caller gets a catalogued 4xx that names the field at fault, at once, and nothing has changed. Each capability has one
// account that is sent it all, on which its example still succeeds afterwards.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesUnknownFields } from '../../src/gateway/field-schema.ts';
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
  littleDrawn,
  prepareExample,
} from '../support/capabilities.ts';
import { expectFailure } from '../support/envelope.ts';
import { inProcess, type Outcome } from '../support/in-process.ts';
import { type Client, client, type Reply, type TestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { announceBody } from './announced-body.ts';
import { badInputs, partsOf, type StrangeInput, strangeInputs } from './bad-inputs.ts';
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
const firstOfReading = firstOfEach(({ bulk, input, opaque = [], bodyBytesMax }) => [
  bulk !== undefined,
  takesUnknownFields(input),
  opaque.length > 0,
  bodyBytesMax,
]);
const FEW: ReadonlySet<string> = new Set(['half a JSON', '__proto__ inside', 'a form']);
/** The same without their lengths, of which the shortest will do: without an announcement all of it must be sent. */
const firstUnannounced = firstOfEach(
  ({ bulk, input, opaque = [] }) => [bulk !== undefined, takesUnknownFields(input), opaque.length > 0],
  (a, b) => bytesMaxOf(a) - bytesMaxOf(b),
);

/** By a kind that capabilities are of, the first of each; of those that take a body. */
function firstOfEach(
  kindOf: (capability: Capability) => unknown[],
  order: (a: Capability, b: Capability) => number = () => 0,
): ReadonlySet<string> {
  const byKind = Map.groupBy(capabilities.filter(takesBody).sort(order), (each) => JSON.stringify(kindOf(each)));
  return new Set([...byKind.values()].flatMap(([first]) => first?.id ?? []));
}

function bytesMaxOf({ bodyBytesMax = 64 * 1024 }: Capability): number {
  return bodyBytesMax;
}

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
function expectRefusedInProcess(outcome: Outcome, what: string, param: string): void {
  expectRefusal(outcome, what);
  expect(within(param, outcome.body.error.param), `${what}: ${outcome.text}`).toBe(true);
}

/** Of a reply or of an answer that came without HTTP. */
function expectRefusal(reply: Reply | Outcome, what: string): void {
  const { status, text, body } = reply;
  if ('headers' in reply) expectRefused(reply, what);
  else expect(status >= 400 && status < 500 && body.ok === false, `${what}: ${text}`).toBe(true);
}

const BLANKS = Buffer.alloc(64 * 1024, ' ');

/** So many spaces, from the same memory again and again. */
function* blanks(bytes: number): Iterable<Buffer> {
  for (let left = bytes; left > 0; left -= BLANKS.length) yield BLANKS.subarray(0, left);
}

/** Whether `param` is the field or something within it. */
function within(field: string, param: string | undefined): boolean {
  return param === field || param?.startsWith(`${field}[`) === true || param?.startsWith(`${field}.`) === true;
}

const header = (value: string) => ({ 'idempotency-key': value });
/** What is deleted may have any text for its name. */
const takesAnyText: ReadonlySet<string> = new Set(['analytics.person.delete']);
/** What no name may be, or what may be one, and what a router must not take for another path. */
const names = ['%00', '%2e%2e', 'a%20b', 'a'.repeat(1025), '__proto__'];
/** What no path may hold: it is refused before it is known whose path it is, so the first capability of each method is asked. */
const brokenSegments = ['%', '%zz', '%E0%A4%A', '%ff', '%2F', '%0d%0aX: y', 'a'.repeat(8000)];
const firstOfMethod = new Set(
  [
    ...Map.groupBy(
      capabilities.filter(({ path }) => path.includes('{')),
      ({ method }) => method,
    ).values(),
  ].flatMap(([first]) => first?.id ?? []),
);
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
    // What stands in the path or the query is text first; of a body the first fault comes by HTTP.
    let isFirst = true;
    for (const { title, input, field, place } of bad) {
      if (place === 'body' && !isFirst) expectRefusedInProcess(await invoke(id, input), title, field);
      else expectRefused(await callCapability(call, capability, input), title, field);
      isFirst &&= place !== 'body';
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
      const bytesMax = bytesMaxOf(capability);
      const { method, path } = httpCall(capability, valid);
      const replies = [await announceBody(service.url, { method, path, secret: account.secret, bytes: bytesMax + 1 })];
      if (firstUnannounced.has(id)) replies.push(await send(Readable.from(blanks(bytesMax + 1))));
      for (const reply of replies) {
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
    test('a cursor that is not its own', async () => {
      for (const cursor of cursors) {
        const reply = await callCapability(call, capability, { ...valid, cursor });
        expectRefused(reply, cursor, 'cursor');
        expect(reply.body.error.code).toBe('INVALID_CURSOR');
      }
    });

  if (capability.path.includes('{'))
    test('what cannot be an id', async () => {
      const base = capability.path.replace(/\{.*/, '');
      for (const segment of firstOfMethod.has(id) ? [...names, ...brokenSegments] : names) {
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
    const asked = { capability, call: loose.call, invoke: await inProcess(service, loose.account.secret) };
    for (const strange of strangeInputs(capability, loose.valid)) await sendStrange(asked, strange);
    const unknownNames = ['surprise', 'constructor', 'toString', 'hasOwnProperty'];
    const input = { ...loose.valid, ...Object.fromEntries(unknownNames.map((name) => [name, '1'])) };
    const reply = await callCapability(loose.call, capability, input, { 'x-qm-unknown-fields': 'warn' });
    if (takesUnknownFields(capability.input)) {
      // A free-form body has no field that could be unknown.
      expect([reply.status, reply.body.metadata.warnings]).toEqual([200, undefined]);
      return;
    }
    if (refusesUnknownFields(capability)) {
      const refused = await callCapability(loose.call, capability, input);
      expectRefused(refused, 'unknown fields');
      expect(paramsOf(refused)).toEqual(expect.arrayContaining(unknownNames));
    }
    if (capability.scope === 'admin' && refusesUnknownFields(capability)) {
      expectRefused(reply, 'unknown fields');
      expect(paramsOf(reply)).toEqual(expect.arrayContaining(unknownNames));
    } else
      for (const name of unknownNames)
        expect(reply.body.metadata.warnings, reply.text).toContainEqual(expect.stringContaining(`${name}: `));
  });
});

/** The fields that a refusal names. */
function paramsOf({ body: { error } }: Reply): string[] {
  return [error.param, ...(error.errors ?? []).map(({ param }: { param: string }) => param)];
}

interface Asked {
  readonly capability: Capability;
  readonly call: Client;
  readonly invoke: Awaited<ReturnType<typeof inProcess>>;
}

/**
 * All fields at once hold strange text; one that is refused for it is as it was, and the others are sent again. Those that were refused get
 * each strange thing alone. By HTTP comes what stands in the path or the query, and the first of a body.
 */
async function sendStrange(asked: Asked, strange: StrangeInput): Promise<void> {
  const refused = await sendUntilTaken(asked, strange, true);
  for (const apart of partsOf(strange, refused)) await sendUntilTaken(asked, apart, false);
}

/** Answers the fields that were refused. */
async function sendUntilTaken(
  { capability, call, invoke }: Asked,
  { title, valid, fields }: StrangeInput,
  isFirstByHttp: boolean,
): Promise<string[]> {
  let left = Object.entries(fields);
  const found: string[] = [];
  for (let isFirst = isFirstByHttp; left.length > 0; isFirst = false) {
    const input = littleDrawn(capability.id, { ...valid, ...Object.fromEntries(left) });
    const isByHttp = isFirst || !takesBody(capability) || left.some(([name]) => capability.path.includes(`{${name}}`));
    const reply = isByHttp ? await callCapability(call, capability, input) : await invoke(capability.id, input);
    if (reply.status === 200) break;
    const names = left.map(([name]) => name);
    expectRefusal(reply, `${title} in ${names}`);
    const refused = names.filter((name) => within(name, reply.body.error.param));
    // What names no field is told of all of them: each is sent alone.
    if (refused.length === 0 && left.length > 1) {
      const alone = left.map(([name, value]) => ({ title, valid, fields: { [name]: value } }));
      for (const each of alone) found.push(...(await sendUntilTaken({ capability, call, invoke }, each, false)));
      break;
    }
    found.push(...(refused.length === 0 ? names : refused));
    left = refused.length === 0 ? [] : left.filter(([name]) => !refused.includes(name));
  }
  return found;
}
