// Tenant-isolation fixture of messages and verifications, for the contract tests: creates them, and
// lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

const notice = { to: '+12025550140', text: 'Your table is ready.' };

export const tenants: TenantFixture = {
  first: 'sms.send',
  nobody: { sms: 'sms_1111111111111111111111', verification: 'ver_1111111111111111111111' },
  async fill({ act }) {
    const { sms_id: sms } = await act('sms.send', notice);
    await act('sms.send', notice);
    const { verification_id: verification } = await act('sms.verify.start', { to: '+12025550141' });
    await act('sms.verify.start', { to: '+12025550142' });
    return { sms, verification };
  },
  async fillOther({ act }) {
    const { sms_id: sms } = await act('sms.send', notice);
    const { verification_id: verification } = await act('sms.verify.start', { to: '+12025550143' });
    return { sms, verification };
  },
  aims: {
    'sms.send': [],
    'sms.get': [({ sms }) => ({ sms_id: sms })],
    'sms.list': [],
    'sms.sandbox.inbound': [],
    'sms.verify.start': [],
    'sms.verify.check': [({ verification }) => ({ verification_id: verification, code: '123456' })],
  },
};
