import Type from 'typebox';
import { scopesAllow } from '../../../../core/callers/scopes.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import { decodeCursor, encodeCursor, page } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, pageFields, plainText } from '../../../../kit/fields.ts';
import { requireRow } from '../../../../kit/resource.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { problem } from '../../../../problems/problem.ts';
import { inboxes, inboxIdField } from '../../inboxes/inboxes.ts';
import { MESSAGES_MAX, WAIT_SECONDS_MAX } from '../../inboxes/limits.ts';
import {
  inboundIdField,
  inboundSchema,
  listReceived,
  type ReceivedRow,
  requireReceived,
  showReceived,
  type WantedMail,
} from '../../inboxes/received.ts';
import { SUBJECT_CHARACTERS_MAX, soughtAddress } from '../../messages/search.ts';
import type { Receiving, ReceivingState } from '../../receiving/receiving.ts';

export const inboxMessages = defineCapability<ReceivingState>()({
  method: 'GET',
  path: '/v1/email/inbox/messages/{inbox_id}',
  summary: 'Reads the mail of an inbox, or waits for it.',
  description:
    'Mail with the oldest first. Send the inbound_id of the last one that you have seen as `after` to get what came since; with wait_seconds the call ' +
    'waits for the next mail (long poll), such as one that brings a code; `sender` and `subject` narrow both. Reading removes nothing. What a mail says was written by its sender: see `auth`.',
  keywords: ['wait for an email', 'read inbox', 'poll for a verification code', 'new mail since'],
  input: Type.Object({
    inbox_id: inboxIdField,
    after: Type.Optional(inboundIdField),
    wait_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: WAIT_SECONDS_MAX,
        default: 0,
        description: `Wait up to this long for mail, 0 to ${WAIT_SECONDS_MAX}; 0 when not sent.`,
      }),
    ),
    sender: Type.Optional(
      soughtAddress('Only mail from this address, in any case: `ada@example.org`. Anyone can write it: see `auth`.'),
    ),
    subject: Type.Optional(
      plainText(SUBJECT_CHARACTERS_MAX, 'Only mail whose subject holds each of these words, in any case.'),
    ),
    cursor: cursorField,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MESSAGES_MAX,
        default: 10,
        description: `Mails a page, 1 to ${MESSAGES_MAX}; 10 when not sent.`,
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(inboundSchema, { description: 'Mail, the oldest first; empty when there is none.' }),
    ...pageFields,
  }),
  waits: true,
  errors: ['NOT_FOUND', 'INVALID_CURSOR'],
  limits: { retention: 'Mail is kept for 30 days.' },
  examples: [
    {
      title: 'What is there',
      before: [{ capability: 'email.inbox.create', input: { address: 'read@inbox.test' } }],
      input: { inbox_id: '$0.inbox_id' },
      expect: { items: [], has_more: false },
    },
  ],
  async run({ ctx, input, state: { receiving } }) {
    const { inbox_id: inboxId, wait_seconds: waitSeconds = 0, limit = 10 } = input;
    await requireRow(inboxes, ctx.core.db, ctx, inboxId);
    const { sender = null, subject = null } = input;
    const narrowed = sender === null && subject === null ? [] : [sender ?? '', subject ?? ''];
    const binding = [ctx.accountId, ctx.capability, inboxId, input.after ?? '', ...narrowed];
    const afterSeq =
      input.cursor === undefined
        ? await seqAfter(ctx, inboxId, input.after)
        : BigInt(decodeCursor(ctx.core.secrets, binding, input.cursor)[0] ?? 0);
    const wanted = { inboxId, afterSeq, limit: limit + 1, sender, subject };
    const rows = await waitForMessages(receiving, ctx, wanted, waitSeconds * 1_000);
    ctx.holdAnswer(rows.reduce((sum, { content }) => sum + content.length, 0));
    const found = page(rows, limit, ({ seq }) => encodeCursor(ctx.core.secrets, binding, [String(seq)]));
    const nowMs = await clockNow(ctx.core.db);
    return {
      data: { ...found, items: found.items.map((row) => showReceived(row, ctx.accountId, receiving.links, nowMs)) },
    };
  },
});

async function seqAfter(ctx: CallContext, inboxId: string, after: string | undefined): Promise<bigint> {
  if (after === undefined) return 0n;
  const row = await requireReceived(ctx.core.db, ctx.accountId, after, 'after');
  if (row.inbox_id !== inboxId)
    throw problem('NOT_FOUND', { param: 'after', message: 'That mail lies in another inbox.' });
  return row.seq;
}

async function waitForMessages(
  { waiters }: Receiving,
  ctx: CallContext,
  wanted: WantedMail,
  waitMs: number,
): Promise<readonly ReceivedRow[]> {
  const giveUpAt = performance.now() + waitMs;
  const listening = waiters.listen(wanted.inboxId);
  try {
    for (;;) {
      const rows = await listReceived(ctx.core.db, ctx.accountId, wanted);
      const leftMs = giveUpAt - performance.now();
      if (rows.length > 0 || leftMs <= 0 || waiters.stopped) return rows;
      ctx.idle();
      await listening.wait(leftMs, ctx.signal);
      if (ctx.signal.aborted) return [];
      await confirmKey(ctx);
    }
  } finally {
    listening.end();
  }
}

/** The key may have been revoked or narrowed, or the account suspended, while the call waited. */
async function confirmKey(ctx: CallContext): Promise<void> {
  const { kind } = ctx.principal;
  const now = await kind.again(ctx.principal);
  if (typeof now === 'string') throw kind.refusal(now);
  if (now.suspended) throw problem('ACCOUNT_SUSPENDED');
  if (!scopesAllow(now.scopes, ctx.capability, 'read')) throw problem('INSUFFICIENT_SCOPE');
}
