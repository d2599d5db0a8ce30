// Removes an inbox with its mail.

import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { CallContext } from '../../../kit/services.ts';
import { giveAddress, inboxTable } from './inboxes.ts';

const removeMail = statement(
  'email_remove_mail_of_inbox',
  'DELETE FROM email.received WHERE account_id = $1 AND inbox_id = $2',
);

/** Whether there was one. Its row goes first: mail that arrives meanwhile waits for it, and then finds no inbox. */
export async function removeInbox(tx: Transaction, ctx: CallContext, inboxId: string): Promise<boolean> {
  const inbox = await inboxTable.find(tx, ctx, inboxId);
  if (inbox === null || !(await inboxTable.remove(tx, ctx, inboxId))) return false;
  await giveAddress(tx, inbox.address, { accountId: ctx.accountId, inboxId });
  await tx.query(removeMail, [ctx.accountId, inboxId]);
  return true;
}
