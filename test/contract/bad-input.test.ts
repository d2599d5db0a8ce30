// Whatever is sent, a caller gets a catalogued 4xx that names the field at fault, at once, and nothing has changed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesUnknownFields } from '../../src/gateway/endpoint.ts';
import { refusesUnknownFields } from '../../src/manifest/describe.ts';
import { accountRows } from '../support/account-rows.ts';
import {
  byId,
  callCapability,
  capabilities,
  createPlayer,
  endFilmsAfterEach,
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
const withBody = capabilities.filter(({ method }) => method !== 'GET').map(({ id }) => id);
const endFilmsOf = endFilmsAfterEach();
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
  send(body: Body | undefined, headers?: Record<string, string>, path?: string): Promise<Reply>;
}

/** An account on which the first example of the capability is about to succeed. */
async function ready(id: string): Promise<Ready> {
  const account = await createPlayer(service.core, byId(id));
  const call = endFilmsOf(client(service.url, account.secret));
  const valid = await prepareExample(call, byId(id));
  const { method, path: ownPath } = httpCall(byId(id), valid);
  const send: Ready['send'] = async (body, headers = {}, path = ownPath) => {
    const init = {
      method,
      headers: { authorization: `Bearer ${account.secret}`, 'content-type': 'application/json', ...headers },
      body,
      duplex: 'half',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    };
    const response = await fetch(service.url + path, init as RequestInit);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith('{') ? JSON.parse(text) : null,
    };
  };
  return { account, call, valid, send };
}

/** Nothing of the account changes while `act` runs, and its example still succeeds afterwards. */
async function unchanged(id: string, act: (prepared: Ready) => Promise<void>): Promise<void> {
  const prepared = await ready(id);
  const before = await accountRows(service.core.db, prepared.account.accountId);
  await act(prepared);
  expect(await accountRows(service.core.db, prepared.account.accountId)).toEqual(before);
  expect((await callCapability(prepared.call, byId(id), prepared.valid)).body).toMatchObject({ ok: true });
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

describe('a field that breaks its schema', () => {
  test.each(ids)('%s', async (id) => {
    await unchanged(id, async ({ call, valid }) => {
      for (const { title, input, field } of badInputs(byId(id), valid).filter(({ lenient }) => lenient !== true)) {
        expectRefused(await callCapability(call, byId(id), input), title, field);
      }
    });
  });

  test.each(ids)('%s: strange text is refused, or is text', async (id) => {
    const { call, valid } = await ready(id);
    for (const { title, input } of badInputs(byId(id), valid).filter(({ lenient }) => lenient === true)) {
      const reply = await callCapability(call, byId(id), input);
      if (reply.status !== 200) expectRefused(reply, title);
    }
  });
});

describe('a field that the capability does not know', () => {
  test.each(ids)('%s', async (id) => {
    const { call, valid } = await ready(id);
    for (const name of ['surprise', 'constructor', 'toString', 'hasOwnProperty']) {
      const reply = await callCapability(call, byId(id), { ...valid, [name]: '1' });
      if (refusesUnknownFields(byId(id))) expectRefused(reply, name, name);
      // A free-form body has no field that could be unknown.
      else if (takesUnknownFields(byId(id).input))
        expect([reply.status, reply.body.metadata.warnings]).toEqual([200, undefined]);
      else expect(reply.body.metadata.warnings, reply.text).toContainEqual(expect.stringContaining(`${name}: `));
    }
  });
});

describe('a broken body', () => {
  test.each(withBody)('%s', async (id) => {
    await unchanged(id, async ({ send }) => {
      for (const [what, body, code, param, headers] of brokenBodies) {
        const reply = await send(body, headers);
        expectRefused(reply, what, param);
        expect(reply.body.error.code, what).toBe(code);
      }
    });
  });

  test.each(withBody)('%s: too large, announced or not', async (id) => {
    const bytesMax = byId(id).bodyBytesMax ?? 64 * 1024;
    await unchanged(id, async ({ send }) => {
      const large = Buffer.alloc(bytesMax + 1, ' ');
      for (const body of [large, new Blob([large]).stream()]) {
        const reply = await send(body);
        expectRefused(reply, 'too large');
        expect(reply.body.error).toMatchObject({
          code: 'PAYLOAD_TOO_LARGE',
          message: expect.stringContaining(String(bytesMax)),
        });
      }
    });
  });
});

describe('an idempotency key', () => {
  const idempotent = capabilities.filter((capability) => capability.idempotent).map(({ id }) => id);
  const header = (value: string) => ({ 'idempotency-key': value });

  test.each(idempotent)('%s: no characters, 256, other than ASCII, no text, two different ones', async (id) => {
    await unchanged(id, async ({ call, valid, send }) => {
      const { path } = httpCall(byId(id), valid);
      const inDelete =
        byId(id).method === 'DELETE'
          ? [
              await send(
                undefined,
                { 'idempotency-key': 'a' },
                `${path}${path.includes('?') ? '&' : '?'}idempotency_key=b`,
              ),
            ]
          : [];
      const replies = [
        ...inDelete,
        await callCapability(call, byId(id), valid, header('')),
        await callCapability(call, byId(id), valid, header('k'.repeat(256))),
        await callCapability(call, byId(id), valid, header('kéy')),
        await callCapability(call, byId(id), valid, header('a\tb')),
        ...(await Promise.all(
          ['', 'k'.repeat(256), 'kéy', 'a\nb', '\0', '𝒳'].map((key) =>
            callCapability(call, byId(id), { ...valid, idempotency_key: key }),
          ),
        )),
      ];
      if (byId(id).method !== 'DELETE') {
        replies.push(await callCapability(call, byId(id), { ...valid, idempotency_key: 'a' }, header('b')));
        for (const key of [null, 7, ['a'], {}])
          replies.push(await callCapability(call, byId(id), { ...valid, idempotency_key: key }));
      }
      for (const reply of replies) {
        expectRefused(reply, 'idempotency key', 'idempotency_key');
        expect(reply.body.error.code).toBe('INVALID_IDEMPOTENCY_KEY');
      }
    });
  });
});

describe('a page', () => {
  const paged = capabilities.filter(({ input }) => 'cursor' in input.properties).map(({ id }) => id);

  test.each(paged)('%s: a cursor that is not its own, a limit out of range', async (id) => {
    await unchanged(id, async ({ call, valid }) => {
      const made = [
        'abc',
        'AAAA',
        Buffer.alloc(40, 1).toString('base64url'),
        '%00',
        '../..',
        'é',
        'a'.repeat(4096),
        '[]',
      ];
      for (const cursor of made) {
        const reply = await callCapability(call, byId(id), { ...valid, cursor });
        expectRefused(reply, cursor, 'cursor');
        expect(reply.body.error.code).toBe('INVALID_CURSOR');
      }
      for (const limit of [0, 101, -1, 1.5, 'abc', '', '1,2', '99999999999999999999']) {
        expectRefused(await callCapability(call, byId(id), { ...valid, limit }), `limit ${limit}`, 'limit');
      }
    });
  });
});

describe('a path', () => {
  const withPath = capabilities.filter(({ path }) => path.includes('{')).map(({ id }) => id);
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

  test.each(withPath)('%s: what cannot be an id', async (id) => {
    await unchanged(id, async ({ send }) => {
      const base = byId(id).path.replace(/\{.*/, '');
      for (const segment of segments) {
        const reply = await send(undefined, {}, base + segment);
        if (reply.status === 200 && /^(a|_)/.test(segment)) continue;
        expectRefused(reply, segment.slice(0, 40));
      }
    });
  });
});
