// Sending of a mail by a call: it checks the fields, begins the mail with its hold, and makes the first attempt if the call waits.
import { setTimeout as sleep } from 'node:timers/promises';
import { inFlight } from '../../../core/idempotency/write.ts';
import { beginWork, type ChargedAnswer, priceOfCall } from '../../../core/wallet/charge/charge.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { toJson } from '../../../lib/json-text.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { domainOf, mailboxText, requireMailbox } from '../addresses.ts';
import { domainStanding } from '../domains/may-send.ts';
import { LEASE_MS, recipientsPerMinute, SEND_AHEAD_DAYS, WAIT_MS_MAX } from '../limits.ts';
import { packContent } from '../messages/content.ts';
import { emailRecord } from '../messages/record.ts';
import { keepSource, sourceKey } from '../messages/source.ts';
import { findMessage, recipientsOf } from '../messages/store.ts';
import { problem } from '../problems.ts';
import type { EmailState } from '../state.ts';
import type { Attempted } from './attempt.ts';
import { type NewMail, notVerified } from './begin.ts';
import { readMail, type SentMail } from './read-mail.ts';
import { OUTBOX } from './relays.ts';
import { makeAttempt } from './sender.ts';

const ROW_BYTES = 2_000;
/** How long a repeat waits for the call that it repeats. */
const IN_FLIGHT_WAIT_MS = 2_000;
const IN_FLIGHT_LOOK_MS = 50;
const NO_ROOM: ReadonlySet<string> = new Set(['CONCURRENCY_LIMITED', 'OVERLOADED']);
const CAPTURED =
  'Nothing left the service: the mail stands in the outbox, for no relay is configured. SMTP_URL or VENDORS_FILE names one.';

/**
 * What a repeat of a call with its key is answered: the mail as it is now. `waits`: as the call itself. Throws IDEMPOTENCY_IN_FLIGHT while the
 * first call still waits, IDEMPOTENCY_INDETERMINATE where nobody knows what became of it.
 */
export async function replayOf(ctx: CallContext, replay: { readonly data: unknown }, waits: boolean): Promise<Answer> {
  const { email_id: emailId } = JSON.parse(toJson(replay.data)) as { readonly email_id: string };
  const giveUpMs = performance.now() + IN_FLIGHT_WAIT_MS;
  let record = await recordOf(ctx, ctx.accountId, emailId);
  while (waits && record.status === 'queued') {
    if (performance.now() > giveUpMs) throw inFlight();
    await sleep(IN_FLIGHT_LOOK_MS, undefined, { signal: ctx.signal });
    record = await recordOf(ctx, ctx.accountId, emailId);
  }
  if (record.status === 'indeterminate') {
    throw problem('IDEMPOTENCY_INDETERMINATE', {
      param: 'idempotency_key',
      message:
        'The mail of this key was handed over, and the answer of the relay is not known. It is not sent again by itself.',
    });
  }
  return { data: record, replayed: true };
}

/** A mail that came whole, with an envelope of its own. */
export interface HandedIn {
  /** Its own, with angle brackets; null: it has none. */
  readonly messageId: string | null;
  /** Who gets it, whomever its headers name. */
  readonly envelope: readonly string[];
}

/** `waits`: for the first attempt. */
export async function sendOne(
  ctx: CallContext,
  state: EmailState,
  sent: SentMail,
  waits: boolean,
  handedIn: HandedIn | null = null,
): Promise<Answer> {
  const mail = await newMail(ctx, state, sent, { param: '', isFirstHere: waits, handedIn });
  const begun = await begin(ctx, state, [mail], { waits, isBatch: false });
  if (begun.replayed) return replayOf(ctx, begun, waits);
  if (!waits) return begun;
  // What follows is work of others.
  ctx.idle();
  return afterAttempt(ctx, state, mail, begun);
}

export async function begin(
  ctx: CallContext,
  state: EmailState,
  mails: readonly NewMail[],
  { waits, isBatch }: { readonly waits: boolean; readonly isBatch: boolean },
): Promise<ChargedAnswer> {
  const units = BigInt(mails.reduce((sum, { recipients }) => sum + recipients.length, 0));
  const [first] = mails as [NewMail];
  const perMinute = ctx.core.limitsRates ? recipientsPerMinute[ctx.tier] : Number.POSITIVE_INFINITY;
  try {
    return await beginWork(ctx, {
      units,
      amountNanos: priceOfCall(ctx, units),
      owner: `email:${first.row.email_id}`,
      keepMs: DAY_MS,
      effect: state.begin,
      input: { mails, leaseMs: waits ? LEASE_MS : null, isBatch, perMinute },
      sequences: 0,
      bytes: mails.reduce((sum, { source }) => sum + (source?.length ?? 0) + ROW_BYTES, 0),
      rows: mails.length + Number(units),
    });
  } catch (error) {
    await forgetSources(state, mails);
    throw error;
  }
}

/** What a refused call has put into the asset store; what a crash leaves there the sweep finds. */
async function forgetSources({ core }: EmailState, mails: readonly NewMail[]): Promise<void> {
  for (const { row } of mails.filter((mail) => mail.row.source_stored)) {
    await core.assets.remove(sourceKey(row.account_id, row.email_id)).catch((err: unknown) => {
      core.log.warn({ err, emailId: row.email_id }, 'the content of a refused mail is left to the sweep');
    });
  }
}

interface NewMailOptions {
  /** What fields are named after. */
  readonly param: string;
  readonly isFirstHere: boolean;
  readonly handedIn?: HandedIn | null;
}

/** Throws VALIDATION_FAILED, DOMAIN_NOT_VERIFIED and VENDOR_NOT_AVAILABLE. */
export async function newMail(
  ctx: CallContext,
  state: EmailState,
  sent: SentMail,
  { param, isFirstHere, handedIn = null }: NewMailOptions,
): Promise<NewMail> {
  const { core, accountId } = ctx;
  const emailId = newId('eml_');
  const dateMs = Math.floor(core.vendors.health.nowMs / 1_000) * 1_000;
  const domain = domainOf(requireMailbox(sent.from, `${param}from`).address);
  const messageId = handedIn?.messageId ?? `<${emailId}@${domain}>`;
  const { content, recipients } = readMail(sent, { messageId, dateMs }, param, handedIn?.envelope);
  const standing = await domainStanding(core.db, accountId, domain, state.settings);
  const vendor = vendorFor(state, sent.vendor, `${param}vendor`);
  if (standing === 'unverified' || (standing === 'reserved' && vendor !== OUTBOX)) throw notVerified(domain);
  if (vendor === OUTBOX && sent.vendor === undefined) ctx.warnings.push(CAPTURED);
  const packed = packContent(content);
  const { source, isStored } = await keepSource(core, accountId, emailId, packed);
  return {
    source,
    recipients,
    needsVerified: standing === 'verified',
    sendAtMs: sendAtOf(sent, core.vendors.health.nowMs, `${param}send_at`),
    row: {
      account_id: accountId,
      email_id: emailId,
      key_id: ctx.principal.id,
      request_id: ctx.requestId,
      capability: ctx.capability,
      from_header: mailboxText(content.from),
      from_address: content.from.address,
      from_domain: domain,
      to_header: content.to.map(mailboxText),
      subject: content.subject,
      message_id: messageId,
      tags: sent.tags ?? [],
      unsubscribe: sent.unsubscribe ?? false,
      track_opens: sent.track_opens ?? false,
      track_clicks: sent.track_clicks ?? false,
      captured: vendor === OUTBOX,
      vendor,
      vendor_pinned: sent.vendor !== undefined,
      source_bytes: BigInt(packed.length),
      source_stored: isStored,
      unit_nanos: priceOfCall(ctx, 1n),
      attempt: isFirstHere ? 1 : 0,
    },
  };
}

function vendorFor({ relays, core }: EmailState, wanted: string | undefined, param: string): string {
  const ids = relays.all.map(({ vendor }) => vendor.id);
  if (wanted === undefined) return ids.find((id) => core.vendors.health.isUp(id, 'email.send')) ?? ids[0] ?? OUTBOX;
  if (wanted === OUTBOX || ids.includes(wanted)) return wanted;
  const message = `There is no relay ${wanted}; there ${ids.length === 1 ? 'is' : 'are'} ${[...ids, OUTBOX].join(', ')}.`;
  throw problem('VENDOR_NOT_AVAILABLE', { param, message });
}

function sendAtOf({ send_at: sendAt }: SentMail, nowMs: number, param: string): number | null {
  if (sendAt === undefined) return null;
  const ms = Date.parse(sendAt);
  if (ms <= nowMs + SEND_AHEAD_DAYS * DAY_MS) return ms;
  throw invalidField(param, 'too_late', `send_at may be up to ${SEND_AHEAD_DAYS / 365} years ahead.`);
}

/** The first attempt, as its caller is told of it. A mail that takes longer goes on without the caller. */
async function afterAttempt(
  ctx: CallContext,
  state: EmailState,
  { row }: NewMail,
  begun: ChargedAnswer,
): Promise<Answer> {
  const job = { accountId: row.account_id, id: row.email_id, attempt: 1 };
  const attempt = makeAttempt(state, job, null, { key: ctx.idempotency });
  const attempted = await inTime(attempt, WAIT_MS_MAX).catch((error: unknown) => {
    // There is no room to send it now: it is accepted, and goes on in the background.
    if (error instanceof Problem && NO_ROOM.has(error.code)) return 'late' as const;
    throw error;
  });
  if (attempted === 'late') {
    attempt.catch((err: unknown) =>
      ctx.core.log.warn({ err, emailId: row.email_id }, 'an attempt to send has failed; it is made again'),
    );
    ctx.warnings.push('The relay has not answered yet: the mail goes on in the background.');
  }
  if (attempted === 'late' || attempted === null)
    return { ...begun, data: await recordOf(ctx, row.account_id, row.email_id) };
  const { written, failure } = attempted;
  if (failure !== null) {
    if (written.capturedNanos !== null) ctx.chargedThoughFailed(written.capturedNanos, false);
    throw failure;
  }
  return {
    data: emailRecord(written.row, written.recipients),
    costNanos: written.capturedNanos ?? 0n,
    balanceNanos: written.balanceNanos ?? begun.balanceNanos,
    ...(written.row.captured ? {} : { served: { vendor: written.row.vendor } }),
  };
}

async function inTime(attempt: Promise<Attempted | null>, ms: number): Promise<Attempted | null | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  try {
    return await Promise.race([attempt, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Recipients are read after the mail, or they would be queued in one that is sent. */
export async function recordOf({ core }: Pick<CallContext, 'core'>, accountId: string, emailId: string) {
  const row = await findMessage(core.db, accountId, emailId);
  if (row === null)
    throw problem('NOT_FOUND', { param: 'email_id', message: 'There is no such mail, or not any more.' });
  const recipients = await recipientsOf(core.db, accountId, [emailId]);
  return emailRecord(row, recipients.get(emailId) ?? []);
}
