import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instant } from '../../../../kit/fields.ts';
import { iso } from '../../../../lib/time.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { deleteAccount, keysStopped } from '../../../../upkeep/deletion/deletion.ts';

export const remove = defineCapability()({
  method: 'DELETE',
  path: '/v1/account/delete',
  summary: 'Deletes the account.',
  description:
    'Every key, session and schedule of it stops before the answer; a repeat is refused with 403 ACCOUNT_SUSPENDED. For seven days an owner ' +
    'can restore all of it at /auth/account; then everything is removed for good, but for the ledger and the payments, which stay without ' +
    'names. Its webhooks are told what happens for one more day. Refused while a subscription runs, and while there is paid credit, unless ' +
    'you give that up.',
  keywords: ['close account', 'gdpr erasure', 'remove my account'],
  input: Type.Object({
    confirm: Type.String({ maxLength: 100, description: 'The id of the account: it is meant.' }),
    forfeit_balance: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether paid credit that is left may be lost.' }),
    ),
  }),
  output: Type.Object({
    account_id: Type.String({ description: 'The account.' }),
    deleted: Type.Boolean({ description: 'Always true.' }),
    purge_at: instant('Until when it can be restored.'),
  }),
  isKeyless: true,
  gates: ['recent_sign_in'],
  currentSecretOnly: true,
  errors: ['STATE_CONFLICT'],
  events: ['account.deleted'],
  examples: [
    {
      title: 'This account, whatever is left in its wallet',
      before: [{ capability: 'account.get', input: {} }],
      input: { confirm: '$0.account_id', forfeit_balance: true },
      expect: { deleted: true },
    },
  ],
  async run({ ctx, input: { confirm, forfeit_balance = false } }) {
    const { core, accountId, requestId } = ctx;
    if (confirm !== accountId)
      throw invalidField('confirm', 'not_the_account', 'confirm is the id of the account that is deleted.');
    const deleted = await runWrite(ctx, async (tx, { nowMs }) => {
      const purgeAtMs = await deleteAccount(tx, accountId, { forfeit: forfeit_balance, requestId, nowMs });
      return { account_id: accountId, deleted: true, purge_at: iso(purgeAtMs) };
    });
    await keysStopped(core, accountId);
    return deleted;
  },
});
