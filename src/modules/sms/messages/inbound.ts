// Inbound messages. A carrier names only numbers: a message belongs to the account that last wrote to the person from that number.
import { createHash } from 'node:crypto';
import { clockNow } from '../../../core/database-clock.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import type { InboundSms } from '../carriers/port.ts';
import { countSegments } from '../segments.ts';
import { optWordOf } from '../words.ts';
import { saveOptWord } from './opt-outs.ts';
import { tell } from './outcome.ts';
import type { MessageRow } from './row.ts';
import { sendInsert } from './store.ts';

const findWriter = statement(
  'sms_find_writer',
  `/* fan-out: carriers name numbers only */
   SELECT m.account_id FROM sms.message m
    WHERE m.to_number = $1 AND m.from_number = $2 AND m.direction = 'outbound' AND NOT m.captured
    ORDER BY m.created_at DESC LIMIT 1`,
);

/** What a carrier brought. A repeat changes nothing. */
export async function takeInbound(core: Services, vendor: string, message: InboundSms): Promise<void> {
  const accountId = await writerOf(core.db, message);
  const nowMs = await clockNow(core.db);
  const word = optWordOf(message.text);
  // The word counts for all accounts, also where nobody is found who wrote.
  if (word !== null)
    await saveOptWord(core.db, { sandboxOf: null, ours: message.to, theirs: message.from }, word, nowMs);
  if (accountId === null) {
    core.log.info({ vendor }, 'an SMS came for nobody: no account has written to its number');
    return;
  }
  const made = { vendor, captured: false, requestId: null, keyId: '' };
  await core.db.transaction((tx) => saveInbound(tx, accountId, message, made, nowMs));
}

export interface Brought {
  readonly vendor: string;
  readonly captured: boolean;
  readonly requestId: string | null;
  readonly keyId: string;
}

/** Writes it down and tells it; what the carrier repeats is written once. */
export async function saveInbound(
  tx: Transaction,
  accountId: string,
  { from, to, text, reference }: InboundSms,
  { vendor, captured, requestId, keyId }: Brought,
  nowMs: number,
): Promise<MessageRow> {
  const kept = text.replaceAll('\0', '').toWellFormed();
  const { encoding, count } = await countSegments(kept, 'text', Number.POSITIVE_INFINITY);
  const row: MessageRow = {
    account_id: accountId,
    sms_id: idOf(vendor, reference),
    direction: 'inbound',
    key_id: keyId,
    request_id: requestId,
    to_number: to,
    from_number: from,
    text: kept,
    sealed_text: null,
    encoding,
    segments: count,
    status: 'received',
    error_code: null,
    detail: null,
    vendor,
    chain: '[]',
    captured,
    hold_id: null,
    capability: 'sms.inbound',
    cost_nanos: 0n,
    sending: false,
    due_at: null,
    attempt: 0,
    created_at: nowMs,
    sent_at: null,
    ended_at: null,
  };
  if ((await sendInsert(tx, row)).count === 1) tell(tx, row, 'sms.inbound', nowMs, requestId);
  return row;
}

async function writerOf(db: Queryable, { from, to }: InboundSms): Promise<string | null> {
  return (await db.query<{ account_id: string }>(findWriter, [from, to])).rows[0]?.account_id ?? null;
}

/** The same for a repeat. */
function idOf(vendor: string, reference: string | null): string {
  if (reference === null) return newId('sms_');
  return `sms_in_${createHash('sha256').update(`${vendor}\n${reference}`).digest('hex').slice(0, 32)}`;
}
