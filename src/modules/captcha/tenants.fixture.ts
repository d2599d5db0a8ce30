// How another account could name things of this one: what the tenant loop of the contract tests needs. A challenge is nobody's row; that its
// solution counts for its own account alone is shown by test/captcha/.
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
