// Tenant-isolation fixture of module rtc, for the contract tests. Rooms are no rows: at LiveKit the account id is a prefix of a
// room's name, and channels belong to the account.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  nobody: {},
  async fill({ act }) {
    await act('rtc.token', { room: 'stand-up', identity: 'ana' });
    return {};
  },
  async fillOther({ act }) {
    await act('rtc.token', { room: 'stand-up', identity: 'ana' });
    return {};
  },
  aims: { 'rtc.token': [] },
};
