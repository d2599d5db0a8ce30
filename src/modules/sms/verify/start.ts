// Start of a verification: a code, its hash, and the SMS or mail that carries it.

import { runOutside } from '../../../core/idempotency/outside.ts';
import { findReplay } from '../../../core/idempotency/write.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { CODE_LENGTH, CODE_SECONDS, codesPerPrefix, TRIES } from '../limits.ts';
import { composeSms } from '../messages/compose.ts';
import { sendMessage } from '../messages/send.ts';
import { SENDER_PATTERN } from '../numbers.ts';
import type { SmsState } from '../state.ts';
import { hashOfCode, newCode } from './codes.ts';
import { takeCode } from './quota.ts';
import { type VerificationRow, verificationIdOf, verificationRecord } from './row.ts';
import { endUnsent, saveMessageId, sendInsertVerification } from './store.ts';

export interface StartInput {
  readonly to: string;
  readonly channel?: 'sms' | 'email';
  readonly length?: number;
  readonly expires_seconds?: number;
  readonly text?: string;
  readonly from?: string;
  readonly vendor?: string;
}

const TEXT = '{code} is your verification code.';
const PLACE = '{code}';
const RESERVED = 'example.com';
const SENDER = new RegExp(SENDER_PATTERN, 'u');

/** Throws VALIDATION_FAILED, RATE_LIMITED and what sending throws. */
export function startVerification(ctx: CallContext, state: SmsState, input: StartInput): Promise<Answer> {
  const { accountId, idempotency: key } = ctx;
  if (key === null) return startNow(ctx, state, input);
  return runInTurn(state.starting, `${accountId} ${key.hash}`, () => startNow(ctx, state, input));
}

/** Calls with one key come one after the other: each but the first is a replay, and counts no code. */
async function runInTurn(
  running: Map<string, Promise<unknown>>,
  key: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  for (let other = running.get(key); other !== undefined; other = running.get(key)) await Promise.allSettled([other]);
  const own = work();
  running.set(key, own);
  try {
    return await own;
  } finally {
    running.delete(key);
  }
}

async function startNow(ctx: CallContext, state: SmsState, input: StartInput): Promise<Answer> {
  // A replay comes before every other check.
  const replay = await findReplay(ctx);
  if (replay !== null) return replay;
  const { text = TEXT, length = CODE_LENGTH.usual } = input;
  if (!text.includes(PLACE)) throw invalidField('text', 'code_place', `It must contain ${PLACE}, where the code goes.`);
  const code = newCode(length);
  const made = {
    code,
    text: text.replaceAll(PLACE, code),
    ttlMs: (input.expires_seconds ?? CODE_SECONDS.usual) * 1_000,
  };
  return input.channel === 'email' ? byMail(ctx, input, made) : bySms(ctx, state, input, made);
}

interface Made {
  readonly code: string;
  readonly text: string;
  readonly ttlMs: number;
}

async function bySms(
  ctx: CallContext,
  state: SmsState,
  input: StartInput,
  { code, text, ttlMs }: Made,
): Promise<Answer> {
  const { to, from, vendor } = input;
  if (from !== undefined && !SENDER.test(from)) {
    throw invalidField(
      'from',
      'sender',
      'It must be a number in E.164, a short code, or a name of up to 11 characters.',
    );
  }
  const composed = await composeSms(ctx, state.settings, { to, from, vendor, text, code });
  const smsId = composed.row.sms_id;
  const row = { ...newRow(ctx, verificationIdOf(smsId), input, code), prefix: composed.prefix, message_id: smsId };
  const giveBack = await takeCode(ctx.core, to, composed.isSandboxed ? ctx.accountId : null);
  let isBegun = false;
  try {
    return await sendMessage(ctx, state, {
      composed,
      text,
      code: { row, ttlMs, prefixMax: codesPerPrefix[ctx.tier] },
      begun: () => {
        isBegun = true;
      },
      answer: (_, { created_at }) => verificationRecord({ ...row, created_at, expires_at: created_at + ttlMs }),
    });
  } catch (error) {
    if (!isBegun) await giveBack();
    throw error;
  }
}

/** A mail of the account, in its name and at its price. */
async function byMail(ctx: CallContext, input: StartInput, { code, text, ttlMs }: Made): Promise<Answer> {
  const { core, accountId } = ctx;
  const id = newId('ver_');
  return runOutside(ctx, async (enter) => {
    const giveBack = await takeCode(core, input.to, null);
    const row = await core.db.transaction(async (tx) => {
      const { nowMs } = await enter(tx);
      const begun = {
        ...newRow(ctx, id, input, code),
        prefix: '',
        message_id: null,
        created_at: nowMs,
        expires_at: nowMs + ttlMs,
      };
      await sendInsertVerification(tx, begun);
      return begun;
    });
    try {
      const from = input.from ?? (await senderOf(ctx));
      const mail = { from, to: input.to, subject: 'Your verification code', text, vendor: input.vendor };
      const { data } = await ctx.invoke('email.send', mail);
      const { email_id: messageId } = data as { readonly email_id: string };
      await saveMessageId(core.db, accountId, id, messageId);
      return verificationRecord({ ...row, message_id: messageId });
    } catch (error) {
      await endUnsent(core.db, accountId, id, row.created_at);
      // A mail that may have left counts.
      if (!(error instanceof Problem) || error.code !== 'VENDOR_TIMEOUT') await giveBack();
      throw error;
    }
  });
}

/** An address of the first domain that the account has verified. The outbox takes that of a reserved name. */
async function senderOf(ctx: CallContext): Promise<string> {
  const { data } = await ctx.invoke('email.domain.list', { status: 'verified', limit: 1 });
  const [first] = (data as { readonly items: readonly { readonly domain: string }[] }).items;
  return `verify@${first?.domain ?? RESERVED}`;
}

function newRow({ core, accountId }: CallContext, id: string, { to, channel = 'sms' }: StartInput, code: string) {
  return {
    account_id: accountId,
    verification_id: id,
    to_address: to,
    channel,
    code_hash: hashOfCode(core.secrets, id, code),
    status: 'pending',
    attempts_left: TRIES,
    ended_at: null,
  } satisfies Partial<VerificationRow>;
}
