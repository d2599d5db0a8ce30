// Nothing of an account is named by these operations: what they work on comes with the call.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  nobody: {},
  fill: async () => ({}),
  fillOther: async () => ({}),
  aims: {
    'pdf.create': [],
    'pdf.merge': [],
    'pdf.split': [],
    'pdf.fill': [],
    'pdf.info': [],
    'pdf.extract_text': [],
  },
};
