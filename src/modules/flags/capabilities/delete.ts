import type { CapabilityRun } from '../../../kit/capability.ts';
import { deleteOf } from '../../../kit/resource.ts';
import { flags } from '../flags/resource.ts';
import type { FlagsState } from '../state.ts';

const record = deleteOf(flags, {
  path: '/v1/flags/delete/{key}',
  description:
    'Evaluations of the key answer FLAG_NOT_FOUND from now on, and code that asks uses its own default. Its history stays.',
  keywords: ['remove feature flag', 'archive flag'],
  examples: [{ title: 'One that is not there', input: { key: 'old-banner' }, expect: { deleted: false } }],
});

export const remove = {
  ...record,
  /** This process serves it no more once it is gone. */
  async run(call: CapabilityRun<Record<string, unknown>, FlagsState>) {
    const answer = await record.run(call);
    call.state.served.changed(call.ctx.accountId);
    return answer;
  },
};
