// How another account could name things of this one: what the tenant loop of the contract tests needs.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';
import { PICTURE } from './capabilities/examples.ts';

const small = { source: { data: PICTURE }, resize: { width: 2 }, inline: true };

export const tenants: TenantFixture = {
  nobody: {},
  async fill({ act }) {
    await act('image.transform', { ...small, idempotency_key: 'shared' });
    return {};
  },
  fillOther: async () => ({}),
  aims: { 'image.transform': [], 'image.info': [] },
  lists: {},
  keyed: [['image.transform', small]],
};
