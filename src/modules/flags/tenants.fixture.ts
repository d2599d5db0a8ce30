// Tenant-isolation fixture of flags, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

const flag = { type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' };

export const tenants: TenantFixture = {
  first: 'flags.create',
  nobody: { key: 'nobody-1111' },
  async fill({ act }) {
    await act('flags.create', { key: 'tenant-one', ...flag });
    await act('flags.create', { key: 'tenant-two', ...flag });
    await act('flags.update', { key: 'tenant-one', description: 'Of the first account.' });
    return { key: 'tenant-one' };
  },
  async fillOther({ act }) {
    await act('flags.create', { key: 'tenant-other', ...flag });
    return { key: 'tenant-other' };
  },
  aims: {
    // A key is one account's: the same is free in another.
    'flags.create': [],
    'flags.update': [({ key }) => ({ key, enabled: false })],
    'flags.import': [],
  },
};
