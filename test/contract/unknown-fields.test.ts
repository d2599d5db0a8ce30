// A field that a call does not know is refused before anything is done, with the name that was probably meant; with the header
// X-QM-Unknown-Fields: warn it is ignored with a warning, which test/contract/bad-input.test.ts asks of every capability.
import { beforeAll, describe, expect, test } from 'vitest';
import { type FieldSchema, takesUnknownFields } from '../../src/gateway/field-schema.ts';
import { type Capability, pathParameters } from '../../src/kit/capability.ts';
import { refusesUnknownFields } from '../../src/manifest/describe.ts';
import { accountRows } from '../support/account-rows.ts';
import { byId, callCapability, capabilities, type Input, isOperators } from '../support/capabilities.ts';
import { inProcess, type Outcome } from '../support/in-process.ts';
import { postMcp, toolCall } from '../support/mcp.ts';
import { type Client, client, createTestAccount, createTestOperator, type TestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const refusing = capabilities.filter(refusesUnknownFields);
const HEADER = { 'x-qm-unknown-fields': 'warn' };

let service: SharedService;
let account: TestAccount;
let call: Client;
let operatorCall: Client;
let invoke: (capability: string, input: Input) => Promise<Outcome>;
let operatorInvoke: typeof invoke;

beforeAll(async () => {
  service = await sharedService();
  account = await createTestAccount(service.core, 100);
  const operator = await createTestOperator(service.core, 100);
  call = client(service.url, account.secret);
  operatorCall = client(service.url, operator.secret);
  invoke = await inProcess(service, account.secret);
  operatorInvoke = await inProcess(service, operator.secret);
});

const asked = (capability: Capability, input: Input) =>
  (isOperators(capability) ? operatorInvoke : invoke)(capability.id, input);

/** What the first example sends; what stands for an earlier answer is sent as it is written. */
const sentTo = ({ examples }: Capability): Input => examples[0]?.input ?? {};

function unknownField(param: string) {
  return { code: 'VALIDATION_FAILED', http_status: 400, retryable: false, code_detail: 'unknown_field', param };
}

test('the records that tolerate unknown fields, or take them as data, are these', () => {
  const others = capabilities.filter((each) => !refusesUnknownFields(each)).map(({ id }) => id);
  expect(others.sort()).toEqual([
    'account.webhooks.test',
    'ai.chat',
    'ai.count_tokens',
    'ai.embed',
    'errors.capture',
    'errors.message',
  ]);
});

describe('in a call of each capability', () => {
  test('a field that there is not is refused, and nothing has changed', async () => {
    const before = await accountRows(service.core.db, account.accountId);
    for (const capability of refusing) {
      const { status, body } = await asked(capability, { ...sentTo(capability), surprise: 1 });
      expect([capability.id, status, body.error]).toMatchObject([capability.id, 400, unknownField('surprise')]);
      expect(body.error.message).toContain(`surprise is not a field of ${capability.id}`);
    }
    expect(await accountRows(service.core.db, account.accountId)).toEqual(before);
  });

  test('a typo is told the name that was meant', async () => {
    for (const capability of refusing) {
      const [name] = Object.keys(capability.input.properties).sort((a, b) => b.length - a.length);
      if (name === undefined || name.length < 3) continue;
      const { body } = await asked(capability, { ...sentTo(capability), [`${name}x`]: 'x' });
      const error = { ...unknownField(`${name}x`), did_you_mean: name };
      expect([capability.id, body.error]).toMatchObject([capability.id, error]);
      expect(body.error.message).toContain(`Did you mean ${name}?`);
    }
  });

  test('a field within an object or a list is refused by its path', async () => {
    let count = 0;
    for (const capability of refusing) {
      for (const { input, param } of nested(capability)) {
        const { body } = await asked(capability, { ...sentTo(capability), ...input });
        expect([capability.id, body.error]).toMatchObject([capability.id, unknownField(param)]);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(30);
  });
});

/** For each field that is a closed object, or a list of such, an input that has one unknown field in it. */
interface Nested {
  readonly input: Input;
  readonly param: string;
}

function nested({ input, opaque = [] }: Capability): Nested[] {
  const fields = Object.entries((input as FieldSchema).properties ?? {}).filter(([name]) => !opaque.includes(name));
  const isClosed = (schema: FieldSchema) => schema.properties !== undefined && !takesUnknownFields(schema);
  return fields.flatMap(([name, schema]): Nested[] => {
    if (isClosed(schema)) return [{ input: { [name]: { surprise: 1 } }, param: `${name}.surprise` }];
    if (schema.items === undefined || !isClosed(schema.items)) return [];
    return [{ input: { [name]: [{}, { surprise: 1 }] }, param: `${name}[1].surprise` }];
  });
}

test('an unknown query parameter of each GET and DELETE is refused, and ignored where a caller who may asks for it', async () => {
  for (const capability of refusing.filter(({ method }) => method === 'GET' || method === 'DELETE')) {
    const input = {
      ...Object.fromEntries(pathParameters(capability.path).map((name) => [name, 'there-is-none'])),
      surprise: '1',
    };
    const caller = isOperators(capability) ? operatorCall : call;
    const { status, body } = await callCapability(caller, capability, input);
    expect([capability.id, status, body.error]).toMatchObject([capability.id, 400, unknownField('surprise')]);
    if (capability.scope === 'admin') continue;
    const ignoring = await callCapability(caller, capability, input, HEADER);
    expect([capability.id, ignoring.body.error?.code_detail]).not.toEqual([capability.id, 'unknown_field']);
  }
});

describe('a refusal', () => {
  const path = '/v1/queue/publish';

  test('names what is missing beside what is unknown, and what there is where nothing is near', async () => {
    const { error } = (await call('POST', '/v1/queue/create', { url: 'https://example.org/' })).body;
    expect(error).toMatchObject({ ...unknownField('url'), errors: [{ param: 'url' }, { param: 'name' }] });
    expect(error.message).toMatch(/^url is not a field of queue\.create, which takes name, .*\. name is required\.$/);
    expect(error.did_you_mean).toBeUndefined();
  });

  test('names a member that is written with a dot in a body as it is written; in a query it is read', async () => {
    const sent = { collection: 'docs', embedding: [1], 'filter.lang': 'de' };
    const { error } = (await call('POST', '/v1/vector/query', sent)).body;
    expect(error).toMatchObject({ ...unknownField('filter.lang'), did_you_mean: 'filter[lang]' });
    expect((await call('GET', '/v1/errors/list?filter.environment=staging')).status).toBe(200);
  });

  test('is not remembered under its idempotency key', async () => {
    await call('POST', '/v1/queue/create', { name: 'mended' });
    const sent = { queue: 'mended', payload: {}, idempotency_key: 'k1' };
    expect((await call('POST', path, { ...sent, prioritty: 1 })).status).toBe(400);
    const mended = await call('POST', path, sent);
    expect(mended.body).toMatchObject({ ok: true, metadata: { idempotent_replay: false } });
    const again = await call('POST', path, sent);
    expect(again.body).toMatchObject({ data: mended.body.data, metadata: { idempotent_replay: true } });
  });

  test('comes by a long body as by a short one', async () => {
    await call('POST', '/v1/queue/create', { name: 'long', max_message_size_kb: 256 });
    const sent = { queue: 'long', payload: { pad: 'x'.repeat(100_000) }, prioritty: 1 };
    const expected = { ...unknownField('prioritty'), did_you_mean: 'priority' };
    expect((await call('POST', path, sent)).body.error).toMatchObject(expected);
    expect((await call('POST', path, { ...sent, payload: {} })).body.error).toMatchObject(expected);
    const warned = await call('POST', path, sent, HEADER);
    expect(warned.body).toMatchObject({ ok: true, metadata: { warnings: ['prioritty: unknown field, ignored'] } });
  });

  test('of an account’s write comes whatever the header says', async () => {
    const refused = await call('POST', '/v1/account/keys/create', { name: 'k', scope: ['queue'] }, HEADER);
    expect(refused.body.error).toMatchObject({ ...unknownField('scope'), did_you_mean: 'scopes' });
  });
});

test('a report of a failure is kept with what it has beside', async () => {
  const reply = await callCapability(call, byId('errors.capture'), { title: 'Broken', surprise: 1 });
  expect(reply.body).toMatchObject({ ok: true, metadata: { warnings: ['surprise: unknown field, ignored'] } });
});

describe('an error names the mend', () => {
  test('of a path without its last part', async () => {
    expect((await call('GET', '/v1/queue/stats?queue=')).body.error).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('the path is /v1/queue/stats/{queue}'),
      did_you_mean: '/v1/queue/stats/{queue}',
    });
  });

  test('of a target on a private address', async () => {
    const sent = { task: 'https://10.0.0.1/', cron_expr: '* * * * *' };
    const { error } = (await call('POST', '/v1/cron/create', sent)).body;
    expect(error).toMatchObject({ code: 'WEBHOOK_URL_REJECTED', param: 'task', code_detail: 'address' });
    for (const named of ['ALLOW_PRIVATE_TARGETS', 'qm events listen']) expect(error.message).toContain(named);
  });

  test('of a job without a schedule', async () => {
    const { error } = (await call('POST', '/v1/cron/create', { task: 'https://example.org/' })).body;
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', code_detail: 'required', param: 'cron_expr' });
  });
});

describe('what was probably meant', () => {
  const failure = async (method: string, path: string, body?: object, by = call) =>
    (await by(method, path, body)).body.error;

  test('is named for a value that a field may not have', async () => {
    const queue = await failure('POST', '/v1/queue/create', { name: 'jobs', type: 'fifi' });
    expect(queue).toMatchObject({ code: 'VALIDATION_FAILED', param: 'type', did_you_mean: 'fifo' });
    expect(queue.message).toContain('Did you mean fifo?');
    const period = await failure('PUT', '/v1/account/budget/set', { period: 'Daily' });
    expect(period.did_you_mean).toBe('daily');
    const far = await failure('POST', '/v1/queue/create', { name: 'jobs', type: 'something' });
    expect(far).not.toHaveProperty('did_you_mean');
  });

  test('is named for a queue that is not there, to a key that may list queues alone', async () => {
    const own = await createTestAccount(service.core);
    const ownCall = client(service.url, own.secret);
    expect((await ownCall('POST', '/v1/queue/create', { name: 'invoices' })).status).toBe(200);
    const asks = [
      ['GET', '/v1/queue/get/invoice', undefined],
      ['POST', '/v1/queue/publish', { queue: 'invocies', payload: {} }],
      ['POST', '/v1/queue/consume', { queue: 'invoicess' }],
    ] as const;
    for (const [method, path, body] of asks) {
      const error = await failure(method, path, body, ownCall);
      expect(error, path).toMatchObject({ code: 'QUEUE_NOT_FOUND', did_you_mean: 'invoices' });
      expect(await failure(method, path, body), path).not.toHaveProperty('did_you_mean');
    }
    const made = await ownCall('POST', '/v1/account/keys/create', { scopes: ['queue.publish'] });
    const narrow = client(service.url, made.body.data.secret);
    const error = await failure('POST', '/v1/queue/publish', { queue: 'invocies', payload: {} }, narrow);
    expect(error.code).toBe('QUEUE_NOT_FOUND');
    expect(error).not.toHaveProperty('did_you_mean');
  });

  test('MODEL_NOT_FOUND names models that are near', async () => {
    const error = await failure('POST', '/v1/ai/chat', {
      model: 'sandbox/echo-2',
      messages: [{ role: 'user', content: 'Hi.' }],
    });
    expect(error).toMatchObject({ code: 'MODEL_NOT_FOUND', did_you_mean: 'sandbox/echo-1' });
  });

  test('call_capability of MCP without input says what it wants', async () => {
    const { body } = await postMcp(
      `${service.url}/mcp`,
      toolCall('call_capability', { id: 'queue.create', name: 'jobs' }),
      { authorization: `Bearer ${account.secret}` },
    );
    const text = JSON.stringify(body);
    expect(body.result.isError).toBe(true);
    expect(text).toContain('input');
    expect(text).toMatch(/name/);
  });
});
