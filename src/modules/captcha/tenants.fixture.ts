// Tenant-isolation fixture of module captcha, for the contract tests. A challenge is no row of an account; test/captcha/ shows that its solution
// counts only for the account that it was made for.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'captcha.verify',
  nobody: {},
  async fill({ act }) {
    await act('captcha.verify', { payload: 'bm90IGEgc29sdXRpb24=' });
    return {};
  },
  async fillOther({ act }) {
    await act('captcha.verify', { payload: 'bm90IGEgc29sdXRpb24=' });
    return {};
  },
  aims: { 'captcha.challenge': [], 'captcha.verify': [] },
};
