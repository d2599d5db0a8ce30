// Sending of a batch: its mails are accepted together, and sent in the background.
import { setTimeout as sleep } from 'node:timers/promises';
import { capturedOf } from '../../../core/wallet/holds/settle-hold.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { exactBackoffMs } from '../../../lib/backoff.ts';
import { toJson } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { BATCH_RECIPIENTS_MAX, WAIT_MS_MAX } from '../limits.ts';
import { emailRecord } from '../messages/record.ts';
import { findMessages, recipientsOf } from '../messages/store.ts';
import type { EmailState } from '../state.ts';
import type { NewMail } from './begin.ts';
import { begin, newMail } from './order.ts';
import type { SentMail } from './read-mail.ts';

const LOOK_BACKOFF = { firstMs: 100, maxMs: 1_000, factor: 1.5 };

export async function sendBatch(
  ctx: CallContext,
  state: EmailState,
  sent: readonly SentMail[],
  waits: boolean,
): Promise<Answer> {
  const mails: NewMail[] = [];
  for (const [i, mail] of sent.entries())
    mails.push(await newMail(ctx, state, mail, { param: `items[${i}].`, isFirstHere: false }));
  const recipients = mails.reduce((sum, mail) => sum + mail.recipients.length, 0);
  if (recipients > BATCH_RECIPIENTS_MAX) {
    throw invalidField(
      'items',
      'too_many',
      `A batch takes ${BATCH_RECIPIENTS_MAX} recipients; this one has ${recipients}.`,
    );
  }
  const begun = await begin(ctx, state, mails, { waits: false, isBatch: true });
  if (!waits || begun.replayed) return begun;
  ctx.idle();
  const ids = (JSON.parse(toJson(begun.data)) as { items: { email_id: string }[] }).items.map(
    ({ email_id }) => email_id,
  );
  const { items, holdId } = await afterFirstAttempts(ctx, ids);
  const costNanos = holdId === null ? null : await capturedOf(ctx.core.db, ctx.accountId, holdId);
  return { ...begun, data: { items }, ...(costNanos === null ? {} : { costNanos }) };
}

/** The mails once none waits for its first attempt, or time is over. `holdId`: what all of them are paid from. */
async function afterFirstAttempts({ core, accountId, signal }: CallContext, ids: readonly string[]) {
  const endMs = performance.now() + WAIT_MS_MAX;
  for (let looks = 1; ; looks += 1) {
    await sleep(exactBackoffMs(LOOK_BACKOFF, looks), undefined, { signal });
    const rows = await findMessages(core.db, accountId, ids);
    if (performance.now() < endMs && rows.some(({ status }) => status === 'queued')) continue;
    const recipients = await recipientsOf(core.db, accountId, ids);
    const byId = new Map(rows.map((row) => [row.email_id, row]));
    const items = ids.flatMap((id) => {
      const row = byId.get(id);
      return row === undefined ? [] : [emailRecord(row, recipients.get(id) ?? [])];
    });
    return { items, holdId: rows[0]?.hold_id ?? null };
  }
}
