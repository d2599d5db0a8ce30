import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { readAddress } from '../../addresses.ts';
import {
  addressField,
  showSuppression,
  suppressionLimits,
  suppressionSchema,
  suppressionTable,
} from '../../suppressions/store.ts';
import { suppress } from '../../suppressions/suppressed.ts';

export const add = defineCapability()({
  method: 'POST',
  path: '/v1/email/suppression/add',
  summary: 'Suppresses an address: it gets no more mail of the account.',
  description:
    'Mail to the address leaves it out from now on; mail to nobody else answers RECIPIENT_SUPPRESSED. An address that is suppressed already ' +
    'keeps its first reason. Mail that was accepted before is still sent.',
  keywords: ['block recipient', 'do not email', 'unsubscribe address', 'suppress address'],
  input: Type.Object({ address: addressField }),
  output: suppressionSchema,
  errors: ['QUOTA_EXCEEDED'],
  limits: { suppressions: '10,000 addresses by hand (standard tier), 100,000 (pro), 1,000,000 (enterprise).' },
  examples: [
    {
      title: 'One address',
      input: { address: 'Grace@example.org' },
      expect: { address: 'grace@example.org', reason: 'manual', email_id: null },
    },
  ],
  async run({ ctx, input }) {
    const address = readAddress(input.address)?.toLowerCase();
    if (address === undefined)
      throw invalidField('address', 'address', 'The address must be one such as ada@example.org.');
    return runWrite(ctx, async (tx, { nowMs }) => {
      const before = await suppressionTable.find(tx, ctx, address);
      if (before !== null) return showSuppression(before);
      await requireRoom(tx, ctx, 'suppression', suppressionLimits.email_suppressions);
      const row = { address, reason: 'manual', email_id: null, created_at: nowMs } as const;
      await suppress(tx, { accountId: ctx.accountId, address, reason: 'manual', emailId: null, nowMs });
      return showSuppression(row);
    });
  },
});
