import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { html } from '../lib/html.ts';
import type { Capability } from './capability.ts';
import { checkManifest } from './check.ts';
import { composeOffer } from './compose.ts';
import { plainDeployment } from './deployment.ts';
import type { Module } from './module.ts';
import type { Page } from './page.ts';

const page: Page = {
  name: 'parcel.console',
  path: '/console/parcel/{id}',
  capability: 'parcel.get',
  subject: 'parcel',
  show: () => ({ title: '', content: html`` }),
};
const read: Capability = {
  id: 'parcel.get',
  method: 'GET',
  path: '/v1/parcel/get/{id}',
  summary: 'Shows a parcel.',
  description: 'Shows one parcel.',
  input: Type.Object({ id: Type.String({ description: 'Id.' }) }),
  output: Type.Object({ sent: Type.Boolean() }),
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: [],
  events: [],
  examples: [{ title: 'A parcel', input: { id: 'books' } }],
  run: async () => ({ data: { sent: true } }),
};
const write: Capability = {
  ...read,
  id: 'parcel.send',
  method: 'POST',
  path: '/v1/parcel/send/{id}',
  scope: 'write',
  idempotent: true,
};

function faultsOf(change: Partial<Page>): string[] {
  const pages = [{ ...page, ...change }];
  const module: Module = {
    name: 'parcel',
    summary: 'For the test.',
    status: 'ga',
    capabilities: [read, write],
    pages,
    start: () => undefined,
  };
  return checkManifest([module], composeOffer([module], plainDeployment));
}

test('a page shows a free read of its module, of the input that its path has', () => {
  expect(faultsOf({})).toEqual([]);
  for (const capability of ['parcel.send', 'letter.get']) {
    expect(faultsOf({ capability })).toEqual([
      `the page parcel.console shows ${capability}, which is no free read of the module parcel`,
    ]);
  }
  expect(faultsOf({ path: '/console/parcel' })).toEqual([
    'the path /console/parcel of the page parcel.console has no id',
  ]);
  expect(faultsOf({ query: ['id'] })).toEqual([]);
  expect(faultsOf({ query: ['cursor'] })).toEqual([
    'the page parcel.console takes cursor, which is no field of parcel.get',
  ]);
  for (const path of ['/docs/{id}', '/console/parcels/{id}']) {
    expect(faultsOf({ path })).toEqual([`the path ${path} of the page parcel.console is not below /console/parcel`]);
  }
});
