// How another account could name things of this one: what the tenant loop of the contract tests needs. Rooms are no rows: the account stands in
// front of a room's name at LiveKit, and channels are its own.
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
