import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { Capability } from './capability.ts';
import { checkManifest } from './check.ts';
import { composeOffer } from './compose.ts';
import { plainDeployment } from './deployment.ts';

const act: Capability = {
  id: 'operator.send',
  method: 'POST',
  path: '/v1/operator/send',
  summary: 'Sends.',
  description: 'Sends something.',
  input: Type.Object({}),
  output: Type.Object({}),
  price: 'free',
  scope: 'admin',
  idempotent: true,
  errors: [],
  events: [],
  examples: [{ title: 'Sent', input: {} }],
  run: async () => ({ data: {} }),
};

function faultsOf(change: Partial<Capability>): string[] {
  const capabilities = [{ ...act, ...change }];
  const modules = [{ name: 'operator', summary: '.', status: 'ga' as const, capabilities, start: () => undefined }];
  return checkManifest(modules, composeOffer(modules, plainDeployment));
}

test('whatever the operator may do has its gates', () => {
  const missing = (gate: string) => `operator.send: a capability of the operator must have the gate ${gate}`;
  expect(faultsOf({ gates: ['operator', 'recent_sign_in'] })).toEqual([]);
  expect(faultsOf({})).toEqual([missing('operator'), missing('recent_sign_in')]);
  expect(faultsOf({ gates: ['operator'] })).toEqual([missing('recent_sign_in')]);
  const read = { method: 'GET', scope: 'read', idempotent: false } as const;
  expect(faultsOf(read)).toEqual([missing('operator')]);
  expect(faultsOf({ ...read, gates: ['operator'] })).toEqual([]);
});
