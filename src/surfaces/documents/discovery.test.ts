import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { fixtureManifest } from '../../../test/contract/fixture.ts';
import { sandboxOnly } from '../../../test/support/vendors.ts';
import type { CallContext, Core } from '../../core/context.ts';
import { JsonText } from '../../lib/json-text.ts';
import { Problem } from '../../problems/problem.ts';

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
const state = await fixtureManifest.modules
  .find((module) => module.name === 'discovery')
  ?.start({ region: 'western', vendors: sandboxOnly() } as Core, undefined);

const ctx = { principal: { scopes: null } } as CallContext;

async function call(id: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const answer = await fixtureManifest.byId.get(id)?.run({ ctx, input: input as never, state });
  if (!(answer?.data instanceof JsonText)) throw new Error('not a JsonText');
  return JSON.parse(answer.data.text);
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

describe('GET /v1/discovery/{capability}', () => {
  test.each([...fixtureManifest.byId.keys()])('%s answers the shape it promises', async (capability) => {
    const data = await call('discovery.capability', { capability });
    expect(ajv.validate(fixtureManifest.byId.get('discovery.capability')?.output ?? {}, data), ajv.errorsText()).toBe(
      true,
    );
  });

  test('the request schema names the idempotency key of a keyed write', async () => {
    const data = await call('discovery.capability', { capability: 'parcel.send' });
    expect(data).toMatchObject({ request_schema: { properties: { parcel: {}, idempotency_key: { type: 'string' } } } });
    expect(data).toMatchObject({
      vendors: [{ vendor: 'self', region: 'western', up: true, models: [], price_usd: 0.00002 }],
    });
    expect((data.errors as { code: string }[]).map(({ code }) => code)).toEqual(
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
    ['chat.completions', 'ai'],
  ])('the id %s of a module that is not built is told as planned', async (capability, module) => {
    await expect(call('discovery.capability', { capability })).rejects.toMatchObject({
      code: 'CAPABILITY_NOT_FOUND',
      httpStatus: 404,
      detail: 'planned',
      message: `The module ${module} is planned and not available here.`,
    });
  });
});
