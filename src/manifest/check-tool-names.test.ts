import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { defineCapability } from '../kit/capability.ts';
import { plainDeployment } from '../kit/deployment.ts';
import { defineModule } from '../kit/module.ts';
import { checkManifest } from './check.ts';
import { composeOffer } from './compose.ts';

function faultsOf(...ids: readonly string[]): string[] {
  const capabilities = ids.map((id) =>
    defineCapability()({
      method: 'GET',
      path: `/v1/${id.replaceAll('.', '/')}`,
      summary: 'Shows it.',
      description: 'Shows it.',
      input: Type.Object({}),
      output: Type.Object({}),
      examples: [{ title: 'It', input: {} }],
      run: async () => ({ data: {} }),
    }),
  );
  const module = defineModule({
    name: 'parcel',
    summary: 'Parcels.',
    status: 'ga',
    capabilities,
  });
  return checkManifest([module], composeOffer([module], plainDeployment));
}

test('a capability has a name of its own as a tool, of at most 64 characters', () => {
  expect(faultsOf('parcel.send', `parcel.${'x'.repeat(57)}`)).toEqual([]);
  const long = `parcel.${'x'.repeat(58)}`;
  expect(faultsOf(long)).toEqual([`${long}: a tool's name has at most 64 characters`]);
  expect(faultsOf('parcel.send.all', 'parcel.send_all')).toEqual([
    'the tool parcel_send_all belongs to more than one capability',
  ]);
});
