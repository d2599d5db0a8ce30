import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type Capability, defineCapability } from '../kit/capability.ts';
import { plainDeployment } from '../kit/deployment.ts';
import type { Module } from '../kit/module.ts';
import type { Offer } from '../kit/offer.ts';
import type { ModelFamily } from '../vendors/file/port.ts';
import { checkManifest as checkAgainst } from './check.ts';
import { composeOffer } from './compose.ts';
import { buildManifest } from './manifest.ts';

const prices = { 'parcel.send': { unit: 'parcel', nanosPerUnit: 20_000n } };
const checkManifest = (modules: readonly Module[]) => checkAgainst(modules, composeOffer(modules, plainDeployment));

const list = defineCapability()({
  method: 'GET',
  path: '/v1/parcel/list',
  summary: 'Lists parcels.',
  description: 'Lists parcels.',
  input: Type.Object({}),
  output: Type.Object({}),
  examples: [{ title: 'All', input: {} }],
  run: async () => ({ data: {} }),
});

function moduleOf(name: string, ...capabilities: Capability[]): Module {
  return { name, summary: 'For the test.', status: 'ga', capabilities };
}

describe('what modules bring', () => {
  const entry = { status: 404, title: 'Gone.', retryable: false, advice: 'Look elsewhere.' };
  const limit = { description: 'Parcels.', standard: 1, pro: 2, enterprise: 3, used: async () => 0 };
  const bringing = (name: string, brought: Partial<Module>): Module => ({ ...moduleOf(name), ...brought });

  test('stands in one offer, and its errors can be named', () => {
    const problems = { PARCEL_LOST: entry };
    const module = {
      ...moduleOf('parcel', { ...list, errors: ['PARCEL_LOST'] }),
      prices,
      problems,
      limits: { parcels: limit },
    };
    const { prices: book, limits, problems: codes } = buildManifest([module]);
    expect([book.prices, limits, codes.PARCEL_LOST]).toEqual([prices, { parcels: limit }, entry]);
  });

  test('is brought once, under the name of its module', () => {
    const problems = { PARCEL_LOST: entry, NOT_FOUND: entry, lost: entry };
    const parcel = bringing('parcel', { limits: { parcels: limit }, problems, prices });
    const letter = bringing('letter', { limits: { parcels: limit }, problems: { PARCEL_LOST: entry }, prices });
    expect(checkManifest([parcel, letter])).toEqual([
      'the price parcel.send is brought by parcel and by letter',
      'the limit parcels is brought by parcel and by letter',
      'the error code NOT_FOUND is brought by core and by parcel',
      'the error code PARCEL_LOST is brought by parcel and by letter',
      'the price parcel.send does not begin with the name of its module, letter',
      'the error code lost is not upper-case words joined by underscores',
    ]);
  });

  test('are models for its own capabilities', () => {
    const models = { name: 'letter', capabilities: ['parcel.list', 'parcel.fly'] } as unknown as ModelFamily;
    expect(checkManifest([{ ...moduleOf('parcel', list), models }])).toEqual([
      'the models of the module parcel are called letter',
      'the models of the module parcel serve parcel.fly, which is no capability of it',
    ]);
  });

  test('may be shown by a capability of another module, which is made of the whole offer', () => {
    const shown: Capability = { ...list, id: 'letter.show', path: '/v1/letter/show' };
    const derived = ({ limits }: Offer) => [{ ...shown, description: `Limits: ${Object.keys(limits).join()}.` }];
    const manifest = buildManifest([
      bringing('letter', { derived }),
      bringing('parcel', { limits: { parcels: limit } }),
    ]);
    expect(manifest.byId.get('letter.show')?.description).toBe('Limits: parcels.');
  });

  test('is read from variables of its own, which have a value when nothing is set', () => {
    const parcel = bringing('parcel', { settings: (variables) => variables.positive('PARCEL_WEIGHT', 3) });
    const letter = bringing('letter', {
      settings: (variables) => [variables.text('PARCEL_WEIGHT'), variables.text('PORT')],
    });
    expect(checkManifest([parcel])).toEqual([]);
    expect(checkManifest([parcel, letter])).toEqual([
      'the variable PARCEL_WEIGHT is read by parcel and by letter',
      'the variable PORT is read by core and by letter',
    ]);
  });
});
