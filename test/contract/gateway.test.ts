// The way of a call: who may, in which order it is checked, and what every answer says.
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { mintSecret } from '../../src/core/keys/api-key.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import type { Capability } from '../../src/kit/capability.ts';
import {
  byId,
  callCapability,
  capabilities,
  createPlayer,
  isOperators,
  prepareExample,
} from '../support/capabilities.ts';
import { expectFailure } from '../support/envelope.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let call: Client;

beforeAll(async () => {
  // Behind a proxy, so that tests fail to log in from addresses of their own.
  service = await startTestService({ env: { TRUST_PROXY: 'loopback' } });
  account = await createTestAccount(service.core);
  call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
});
afterAll(() => service.stop());

const oneOfEachMethod = [...new Map(capabilities.map((each) => [each.method, each])).values()];
const otherLast = (secret: string) => `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`;
const codeOf = ({ status, body }: Reply): unknown[] => [status, body?.error?.code];

describe('authentication', () => {
  let addresses = 0;
  const authorize = (authorization: string | undefined, id: string) => {
    addresses += 1;
    return callCapability(client(service.url), byId(id), byId(id).examples[0]?.input ?? {}, {
      'x-forwarded-for': `10.1.${(addresses >> 8) % 256}.${addresses % 256}`,
      ...(authorization === undefined ? {} : { authorization }),
    });
  };

  const foreign = () => mintSecret(new Secrets('the server secret of another deployment')).secret;
  test.each([
    ['none', undefined, 'UNAUTHORIZED'],
    ['empty', '', 'UNAUTHORIZED'],
    ['Basic', 'Basic cWE6cWE=', 'UNAUTHORIZED'],
    ['no token', 'Bearer', 'UNAUTHORIZED'],
    ['two tokens', 'Bearer a b', 'INVALID_API_KEY'],
    ['no scheme', foreign(), 'INVALID_API_KEY'],
    ['garbled', 'Bearer nonsense', 'INVALID_API_KEY'],
    ['of another deployment', `Bearer ${foreign()}`, 'INVALID_API_KEY'],
    ['very long', `Bearer ${'a'.repeat(8_000)}`, 'INVALID_API_KEY'],
    ['SQL', "Bearer ';DROP", 'INVALID_API_KEY'],
  ])('%s: 401 with a challenge on every capability', async (what, authorization, code) => {
    // Who calls is found by one hook of all routes: other forms than these two are sent to one route of each method.
    const asked = what === 'none' || what === 'garbled' ? capabilities : oneOfEachMethod;
    for (const { id } of asked) {
      const reply = await authorize(authorization, id);
      expect(codeOf(reply), id).toEqual([401, code]);
      expect(reply.body.error.code_detail).toBeUndefined();
      expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="quartermaster"');
      expectFailure(reply, service.url);
    }
  });

  test('the scheme is not case-sensitive', async () => {
    expect((await authorize(`bearer ${account.secret}`, 'account.balance')).status).toBe(200);
  });

  test('a right secret says what became of its key; unknown and wrongly checked ones get one answer', async () => {
    const make = async (fields: object) => (await call('POST', '/v1/account/keys/create', fields)).body.data;
    const revoked = await make({});
    await call('DELETE', `/v1/account/keys/revoke/${revoked.key_id}`);
    const expired = await make({ expires_at: new Date(Date.now() + 1_500).toISOString() });
    const replaced = await make({});
    await call('POST', `/v1/account/keys/rotate/${replaced.key_id}`, { grace_hours: 0 });
    // sleeps: the clock of this service is that of other tests too
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    const answer = async (secret: string) => {
      const { status, body, headers } = await authorize(`Bearer ${secret}`, 'account.balance');
      const { request_id: _request, trace_id: _trace, ...error } = body.error;
      return { status, challenge: headers.get('www-authenticate'), error };
    };
    const unknown = await answer(mintSecret(service.core.secrets).secret);
    expect(unknown).toMatchObject({ status: 401, error: { code: 'INVALID_API_KEY' } });
    expect(await answer(otherLast(account.secret))).toEqual(unknown);
    expect(await answer(otherLast(revoked.key_secret))).toEqual(unknown);
    const { error, ...common } = unknown;
    for (const [secret, detail] of [
      [revoked.key_secret, 'revoked'],
      [expired.key_secret, 'expired'],
      [replaced.key_secret, 'expired'],
    ])
      expect(await answer(secret)).toEqual({
        ...common,
        error: { ...error, code_detail: detail, message: expect.stringMatching(/revoked|expired/) },
      });
  });

  test('a key with a wrong checksum, or minted elsewhere, is refused without a read of the database', async () => {
    const { secret } = mintSecret(service.core.secrets);
    const reads: string[] = [];
    const { hot } = service.core.db;
    const query = hot.query.bind(hot);
    hot.query = ((statement: { name: string }, values: readonly unknown[]) => {
      reads.push(`${statement.name} ${Buffer.isBuffer(values[0]) ? values[0].toString('hex') : ''}`);
      return query(statement as never, values as never);
    }) as typeof hot.query;
    const readFor = (text: string) => reads.includes(`key_find_account ${hash('sha256', text)}`);
    for (const wrong of [otherLast(secret), foreign()]) {
      await authorize(`Bearer ${wrong}`, 'account.balance');
      expect(readFor(wrong)).toBe(false);
    }
    await authorize(`Bearer ${secret}`, 'account.balance');
    expect(readFor(secret)).toBe(true);
    hot.query = query as typeof hot.query;
  });

  test('a suspended account is told so, for reads too', async () => {
    const other = await createTestAccount(service.core);
    await service.core.db.transaction((tx) => setSuspended(tx, other.accountId, true));
    const reply = await client(service.url, other.secret)('GET', '/v1/account/balance');
    expect(codeOf(reply)).toEqual([403, 'ACCOUNT_SUSPENDED']);
  });
});

/** What is known by this name, made at first. */
function known<T>(all: Map<string, T>, name: string, make: () => T): T {
  const found = all.get(name) ?? make();
  all.set(name, found);
  return found;
}

describe('scopes', () => {
  const kinds = ['read', 'write', 'admin'] as const;
  const keyFor = async (scopes: string[], owner = call) => {
    const { body } = await owner('POST', '/v1/account/keys/create', { scopes });
    return client(service.url, body.data.key_secret);
  };

  // Calls of a module share an account, of which each has so many keys, and keys of the same scopes: no call here has what it needs to do much.
  const CAPABILITIES_PER_ACCOUNT = 16;
  const owners = new Map<string, Promise<Client>>();
  const keys = new Map<string, Promise<Client>>();
  function keyOfModule(capability: Capability, scopes: string[]): Promise<Client> {
    const part = Math.floor(capabilities.indexOf(capability) / CAPABILITIES_PER_ACCOUNT);
    const name = isOperators(capability) ? 'operator' : `${capability.id.split('.')[0]} ${part}`;
    const owner = known(owners, name, async () =>
      client(service.url, (await createPlayer(service.core, capability)).secret),
    );
    return known(keys, `${name} ${scopes}`, async () => keyFor(scopes, await owner));
  }

  test.each(capabilities.filter(({ anyKey }) => anyKey !== true).map(({ id }) => id))(
    '%s: refused below its scope and in other modules',
    async (id) => {
      const capability = byId(id);
      const module = id.split('.')[0] as string;
      const below = kinds.slice(0, kinds.indexOf(capability.scope)).map((kind) => `${module}:${kind}`);
      const others = capabilities.filter((each) => each.id !== id && isOperators(each) === isOperators(capability));
      const elsewhere = ['queue', 'vector', 'errors:admin'].filter((scope) => !scope.startsWith(module));
      for (const scopes of [...below.map((scope) => [scope]), elsewhere, others.slice(0, 100).map((each) => each.id)]) {
        const reply = await callCapability(await keyOfModule(capability, scopes), capability, { surprise: {} });
        expect(codeOf(reply), scopes.join()).toEqual([403, 'INSUFFICIENT_SCOPE']);
        expect(reply.body.error).toMatchObject({
          code_detail: `${module}:${capability.scope}`,
          message: expect.stringContaining(id),
        });
      }
    },
  );

  test.each(capabilities.map(({ id }) => id))(
    '%s: enough is its id, its kind, its module or everything',
    async (id) => {
      const module = id.split('.')[0] as string;
      const everything = isOperators(byId(id)) ? [] : ['*'];
      for (const scope of [id, `${module}:${byId(id).scope}`, module, ...everything]) {
        if (byId(id).anyKey === true && scope !== '*') continue;
        const reply = await callCapability(await keyOfModule(byId(id), [scope]), byId(id), {});
        expect(['INSUFFICIENT_SCOPE', 'INVALID_API_KEY']).not.toContain(reply.body.error?.code);
      }
    },
  );

  test('discovery is open to every key', async () => {
    const narrow = await keyFor(['queue.ack']);
    expect((await narrow('GET', '/v1/discovery')).status).toBe(200);
    expect((await narrow('GET', '/v1/discovery/queue.publish')).status).toBe(200);
  });

  test('balance_usd is told only to keys that may ask for it', async () => {
    const narrow = await keyFor(['queue.publish']);
    const publish = { queue: 'jobs', payload: {} };
    expect((await narrow('POST', '/v1/queue/publish', publish)).body.metadata).not.toHaveProperty('balance_usd');
    expect((await call('POST', '/v1/queue/publish', publish)).body.metadata).toHaveProperty('balance_usd');
  });
});

describe('the order of checks', () => {
  test('key, then scope, then body, then key reuse, then existence, then state, then money', async () => {
    const poor = await createTestAccount(service.core, 0);
    const rich = client(service.url, poor.secret);
    await rich('POST', '/v1/queue/create', { name: 'poor' });
    const narrow = (await rich('POST', '/v1/account/keys/create', { scopes: ['vector'] })).body.data.key_secret;
    const publish = (secret: string, body: unknown) =>
      client(service.url, secret)('POST', '/v1/queue/publish', body, { 'x-forwarded-for': '10.9.9.9' });
    expect(codeOf(await publish('nonsense', '{'))).toEqual([401, 'INVALID_API_KEY']);
    expect(codeOf(await publish(narrow, '{'))).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect(codeOf(await publish(poor.secret, '{'))).toEqual([400, 'MALFORMED_JSON']);
    expect(codeOf(await publish(poor.secret, { queue: 'missing' }))).toEqual([400, 'VALIDATION_FAILED']);
    expect(codeOf(await publish(poor.secret, { queue: 'missing', payload: {} }))).toEqual([404, 'QUEUE_NOT_FOUND']);
    expect(codeOf(await publish(poor.secret, { queue: 'poor', payload: {} }))).toEqual([402, 'INSUFFICIENT_CREDIT']);
  });

  test('a replay comes before existence and money', async () => {
    const { secret } = await createTestAccount(service.core, 0.00002);
    const own = client(service.url, secret);
    const publish = () => own('POST', '/v1/queue/publish', { queue: 'once', payload: {}, idempotency_key: 'k' });
    await own('POST', '/v1/queue/create', { name: 'once' });
    const first = await publish();
    expect(first.status).toBe(200);
    expect((await publish()).body).toMatchObject({
      data: first.body.data,
      metadata: { idempotent_replay: true, cost_usd: 0 },
    });
    await own('DELETE', '/v1/queue/delete/once');
    expect((await publish()).body).toMatchObject({
      data: first.body.data,
      metadata: { idempotent_replay: true, cost_usd: 0 },
    });
  });
});

describe('fields', () => {
  test('PATCH: absent stays, null clears', async () => {
    const made = await prepareExample(call, byId('account.keys.update'));
    const path = `/v1/account/keys/update/${made.key_id}`;
    expect((await call('PATCH', path, { name: 'named' })).body.data).toMatchObject({
      name: 'named',
      scopes: ['vector'],
    });
    expect((await call('PATCH', path, { scopes: null })).body.data).toMatchObject({ name: 'named', scopes: null });
    expect((await call('PATCH', path, { name: null })).body.data).toMatchObject({ name: null, scopes: null });
    const before = (await call('PATCH', path, {})).body.data;
    const { updated_at: _updated, ...same } = (await call('PATCH', path)).body.data;
    expect(before).toMatchObject(same);
    await call('POST', '/v1/queue/create', { name: 'patched-dead' });
    await call('POST', '/v1/queue/create', { name: 'patched', dead_letter_queue: 'patched-dead', max_retries: 7 });
    const patched = (body: object) => call('PATCH', '/v1/queue/update/patched', body);
    expect((await patched({ message_retention_days: 2 })).body.data).toMatchObject({
      dlq_name: 'patched-dead',
      max_receive_count: 7,
    });
    expect((await patched({ dead_letter_queue: null })).body.data).toMatchObject({
      dlq_name: null,
      max_receive_count: 7,
      message_retention_days: 2,
    });
  });

  test('query parameters that are not known are refused, or named in warnings for a caller who asks for it', async () => {
    const path = '/v1/account/balance?surprise=1&surprise=2&idempotency_key=k&toString=1';
    const { error } = (await call('GET', path)).body;
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', code_detail: 'unknown_field', param: 'surprise' });
    expect(error.errors.map(({ param }: { param: string }) => param)).toEqual(['surprise', 'toString']);
    const get = await call('GET', path, undefined, { 'x-qm-unknown-fields': 'warn' });
    expect(get.status).toBe(200);
    expect(get.body.metadata.warnings).toEqual(
      ['idempotency_key', 'surprise', 'toString'].map((name) => expect.stringContaining(`${name}: `)),
    );
  });

  test('query parameters that are not used are named in warnings', async () => {
    const post = await call('POST', '/v1/queue/purge/jobs?queue=jobs&idempotency_key=k');
    expect(post.body.metadata.warnings).toEqual(
      ['queue', 'idempotency_key'].map((name) => expect.stringContaining(`${name}: ignored`)),
    );
  });

  test('the same field in path and body is taken when equal, refused when not', async () => {
    expect((await call('POST', '/v1/queue/purge/jobs', { queue: 'jobs' })).status).toBe(200);
    const other = await call('POST', '/v1/queue/purge/jobs', { queue: 'others' });
    expect([...codeOf(other), other.body.error.param]).toEqual([400, 'VALIDATION_FAILED', 'queue']);
  });

  test('an empty body is an empty object', async () => {
    for (const body of [undefined, '', '{}'])
      expect((await call('POST', '/v1/queue/purge/jobs', body)).status).toBe(200);
  });

  test('several faults are listed', async () => {
    const { body } = await call('POST', '/v1/queue/create', { name: 'A', max_retries: 0, message_retention_days: 1.5 });
    const params = body.error.errors.map(({ param }: { param: string }) => param);
    expect(new Set(params)).toEqual(new Set(['name', 'max_retries', 'message_retention_days']));
    expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: params[0] });
  });
});
