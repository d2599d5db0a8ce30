import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { orNull } from '../../../../kit/fields.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import { newId } from '../../../../lib/ids.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { domainOf, readAddress } from '../../addresses.ts';
import { inboxes, inboxLimits, inboxSchema, saveInbox, takeAddress } from '../../inboxes/inboxes.ts';
import { problem } from '../../problems.ts';
import type { ReceivingState } from '../../receiving/receiving.ts';
import { mayReceive } from '../../receiving/recipients.ts';

export const createInbox = defineCapability<ReceivingState>()({
  method: 'POST',
  path: '/v1/email/inbox/create',
  summary: 'Creates an inbox, which receives mail.',
  description:
    'The address must lie in a domain that email.domain.verify has verified for the account, whose MX record names this service (purpose `inbound`), ' +
    'or in a reserved name such as `.test` for rehearsals, which mail of this service alone reaches. With `queue` each mail also becomes a message ' +
    'there, {inbound_id, inbox_id, from, subject}, paid as queue.publish; without credit the mail stays in the inbox.',
  keywords: [
    'receive email',
    'mailbox for an agent',
    'inbound email address',
    'email to queue',
    'read verification codes',
  ],
  input: Type.Object({
    address: Type.String({
      maxLength: 320,
      description: 'The whole address: `tickets@example.org`. It exists once in the service.',
    }),
    queue: Type.Optional(
      orNull<string>(
        { type: 'string', minLength: 1, maxLength: 80, pattern: '^[a-z0-9._-]+$' },
        'Name of a queue in which each mail becomes a message.',
      ),
    ),
  }),
  output: inboxSchema,
  laterPrices: ['queue.publish'],
  errors: ['ALREADY_EXISTS', 'DOMAIN_NOT_VERIFIED', 'QUOTA_EXCEEDED'],
  limits: {
    inboxes: '10 an account (standard tier), 100 (pro), 1,000 (enterprise).',
    mail: '10 MiB each, 100 a minute and inbox, 10,000 kept; the sender is told to try again.',
    retention: 'Mail is kept for 30 days.',
  },
  examples: [
    {
      title: 'For rehearsals',
      input: { address: 'agent@inbox.test' },
      expect: { queue: null, message_count: 0 },
    },
  ],
  run: ({ ctx, input }) => {
    const address = readAddress(input.address)?.toLowerCase() ?? null;
    if (address === null)
      throw invalidField('address', 'address', 'address must be one mail address, such as tickets@example.org.');
    return runWrite(ctx, async (tx, { nowMs }) => {
      const domain = domainOf(address);
      if (!(await mayReceive(tx, ctx.accountId, domain))) {
        throw problem('DOMAIN_NOT_VERIFIED', {
          param: 'address',
          message: `${domain} is not verified for this account: see email.domain.verify.`,
        });
      }
      await requireRoom(tx, ctx, 'inbox', inboxLimits.email_inboxes);
      const inboxId = newId('inb_', nowMs);
      if (!(await takeAddress(tx, address, { accountId: ctx.accountId, inboxId }))) {
        throw problem('ALREADY_EXISTS', { param: 'address', message: 'There is an inbox with this address.' });
      }
      const row = {
        inbox_id: inboxId,
        address,
        domain,
        queue: input.queue ?? null,
        message_count: 0n,
        created_at: nowMs,
      };
      return inboxes.show(saveInbox(tx, ctx, row), { ctx, state: null });
    });
  },
});
