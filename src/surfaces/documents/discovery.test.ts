import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { fixtureManifest } from '../../../test/contract/fixture.ts';
import { sandboxOnly } from '../../../test/support/vendors.ts';
import type { CallContext, Services } from '../../kit/services.ts';
import { JsonText } from '../../lib/json-text.ts';
import { Problem } from '../../problems/problem.ts';

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
const state = await fixtureManifest.modules
  .find((module) => module.name === 'discovery')
  ?.start?.({ region: 'western', vendors: sandboxOnly() } as Services, undefined);

const ctx = { principal: { scopes: null } } as CallContext;

async function call(id: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const answer = await fixtureManifest.byId.get(id)?.run({ ctx, input: input as never, state });
  const data = answer?.data;
  return data instanceof JsonText ? JSON.parse(data.text) : (data as Record<string, unknown>);
}

describe('GET /v1/discovery', () => {
  test('answers the shape it promises', async () => {
    const data = await call('discovery', {});
    expect(ajv.validate(fixtureManifest.byId.get('discovery')?.output ?? {}, data), ajv.errorsText()).toBe(true);
    expect(data).toMatchObject({ service: 'quartermaster', spec_version: '0.1.0', regions: ['western'] });
  });

  test('lists every module tag, with what is not built as planned', async () => {
    const { modules } = await call('discovery', {});
    expect(modules).toEqual(
      expect.arrayContaining([
        { module: 'parcel', status: 'beta' },
        { module: 'video', status: 'planned' },
      ]),
    );
    expect(modules).toHaveLength(27);
  });

  test('lists every capability with its price', async () => {
    const { capabilities } = (await call('discovery', {})) as { capabilities: Record<string, unknown>[] };
    expect(capabilities.map(({ id }) => id)).toEqual([
      'parcel.send',
      'parcel.list',
      'parcel.drop',
      'parcel.weigh',
      'discovery',
      'discovery.capability',
      'discovery.event',
    ]);
    expect(capabilities[0]).toEqual({
      id: 'parcel.send',
      module: 'parcel',
      method: 'POST',
      path: '/v1/parcel/send/{parcel}',
      summary: 'Sends a parcel.',
      status: 'ga',
      billable: true,
      pricing: { unit: 'parcel', price_usd: 0.00002, minimum_usd: 0.0001 },
      idempotent: true,
      scope: 'parcel:write',
      regions: ['western'],
      vendors_live: ['self'],
    });
  });
});

describe('GET /v1/discovery with a question', () => {
  const ids = async (input: Record<string, unknown>) => {
    const data = await call('discovery', input);
    expect(ajv.validate(fixtureManifest.byId.get('discovery')?.output ?? {}, data), ajv.errorsText()).toBe(true);
    expect(Object.keys(data)).not.toEqual(expect.arrayContaining(['events']));
    return (data.capabilities as { id: string }[]).map(({ id }) => id);
  };

  test.each([
    [{ q: 'drop for good' }, ['parcel.drop']],
    [{ q: 'how do I' }, []],
    [{ module: 'discovery' }, ['discovery', 'discovery.capability', 'discovery.event']],
    [{ billable: true }, ['parcel.send']],
    [{ module: 'parcel', billable: false }, ['parcel.list', 'parcel.drop', 'parcel.weigh']],
    [{ limit: 2 }, ['parcel.send', 'parcel.list']],
    [{ q: 'describes', limit: 1 }, ['discovery.capability']],
  ])('%j answers %j', async (input, wanted) => {
    expect(await ids(input)).toEqual(wanted);
  });

  test('says how many there are beyond the limit', async () => {
    expect(await call('discovery', { module: 'parcel', limit: 1 })).toMatchObject({ total: 4, capabilities: [{}] });
  });

  test('the rows are those of the whole list; view=brief has what is enough to choose', async () => {
    const whole = await call('discovery', {});
    const narrowed = await call('discovery', { module: 'parcel' });
    expect(narrowed.capabilities).toEqual((whole.capabilities as object[]).slice(0, 4));
    const { capabilities } = await call('discovery', { view: 'brief', limit: 1 });
    expect(capabilities).toEqual([
      {
        id: 'parcel.send',
        summary: 'Sends a parcel.',
        price: '0.00002 USD per parcel, at least 0.0001 USD per call',
      },
    ]);
  });

  test.each([
    ['parcels', 'There is no module "parcels". Did you mean parcel? There are parcel, discovery.'],
    ['email', 'The module "email" is planned and not available here. There are parcel, discovery.'],
    ['__proto__', 'There is no module "__proto__". There are parcel, discovery.'],
  ])('the module %s is refused by name', async (module, message) => {
    const refused = { code: 'VALIDATION_FAILED', httpStatus: 400, param: 'module', detail: 'enum', message };
    await expect(call('discovery', { module })).rejects.toMatchObject(refused);
  });

  test('without one the answer has all of its fields, in their order', async () => {
    expect(Object.keys(await call('discovery', {}))).toEqual([
      'service',
      'api_version',
      'spec_version',
      'manifest_sha256',
      'regions',
      'modules',
      'capabilities',
      'events',
      'streams',
    ]);
  });
});

describe('GET /v1/discovery/{capability}', () => {
  test('has in full the words by which it is found, and says what destroys', async () => {
    const described = await call('discovery.capability', { capability: 'parcel.drop', view: 'full' });
    expect(described).toMatchObject({ destructive: true, keywords: [] });
    const own = await call('discovery.capability', { capability: 'discovery', view: 'full' });
    expect(own).toMatchObject({ destructive: false, keywords: expect.arrayContaining(['api catalog']) });
  });

  test.each([...fixtureManifest.byId.keys()])('%s answers the shape it promises', async (capability) => {
    const { output = {} } = fixtureManifest.byId.get('discovery.capability') ?? {};
    for (const view of ['brief', 'full']) {
      const data = await call('discovery.capability', { capability, view });
      expect(ajv.validate(output, data), ajv.errorsText()).toBe(true);
    }
  });

  test('the request schema names the idempotency key of a keyed write', async () => {
    const data = await call('discovery.capability', { capability: 'parcel.send' });
    expect(data).toMatchObject({ request_schema: { properties: { parcel: {}, idempotency_key: { type: 'string' } } } });
    expect(data).toMatchObject({
      vendors: [{ vendor: 'self', region: 'western', up: true, models: [], price_usd: 0.00002 }],
    });
    const codesOf = ({ errors }: Record<string, unknown>) => (errors as { code: string }[]).map(({ code }) => code);
    expect(codesOf(data)).toEqual(['NOT_FOUND']);
    const whole = await call('discovery.capability', { capability: 'parcel.send', view: 'full' });
    expect(codesOf(whole)).toEqual(
      expect.arrayContaining(['INSUFFICIENT_CREDIT', 'IDEMPOTENCY_KEY_REUSED', 'NOT_FOUND', 'CONCURRENCY_LIMITED']),
    );
  });

  test.each([
    ['parcel.sent', ' Did you mean parcel.send?'],
    ['weigh', ' Did you mean parcel.weigh?'],
    ['parcel.receive', ''],
    ['__proto__', ''],
    ['constructor', ''],
    ['', ''],
  ])('the unknown id %j is a 404 that names only what is near', async (capability, hint) => {
    const failure = await call('discovery.capability', { capability }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Problem);
    expect(failure).toMatchObject({
      code: 'CAPABILITY_NOT_FOUND',
      httpStatus: 404,
      param: 'capability',
      message: `There is no capability ${JSON.stringify(capability)}.${hint} GET /v1/discovery lists all.`,
    });
  });

  test.each([
    ['email', 'email'],
    ['email.send', 'email'],
    ['ai.chat', 'ai'],
  ])('the id %s of a module that is not built is told as planned', async (capability, module) => {
    await expect(call('discovery.capability', { capability })).rejects.toMatchObject({
      code: 'CAPABILITY_NOT_FOUND',
      httpStatus: 404,
      detail: 'planned',
      message: `The module ${module} is planned and not available here.`,
    });
  });
});
