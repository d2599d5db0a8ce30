// How another account could name what this one has of the web: what the tenant loop of the contract tests needs.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  nobody: {},
  fill: async () => ({}),
  fillOther: async () => ({}),
  aims: { 'web.fetch': [] },
  lists: {},
};
