// One attempt to send a mail. Recipients with an inbox of this service get it here, all others by the first relay that answers, in order of
// priority. Known results are written as one outcome; a recipient whose result is unknown is never tried again.
import type { AccountPlaces } from '../../../core/account-places.ts';
import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import type { Services } from '../../../kit/services.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import { ATTEMPT_MS_MAX, DEFERRED_MS } from '../limits.ts';
import { type MailContent, unpackContent } from '../messages/content.ts';
import { hasOwnCopies, isPending, type MessageRow, type RecipientRow } from '../messages/row.ts';
import type { EmailSettings } from '../settings.ts';
import type { MailLinks } from '../tracking/links.ts';
import type { Reply } from '../vendors/smtp.ts';
import { bounceAddress } from './bounce-token.ts';
import type { DkimKey } from './compose.ts';
import type { Composer } from './composer.ts';
import type { LocalDelivery } from './local-delivery.ts';
import type { Marks } from './marks.ts';
import type { Result, Written } from './outcome.ts';
import type { Outcomes } from './outcomes.ts';
import type { Relay, Relayed, Relays } from './relays.ts';

export interface SendingHost {
  readonly core: Services;
  readonly settings: EmailSettings;
  readonly keys: SigningKeys;
  readonly composer: Composer;
  readonly relays: Relays;
  readonly marks: Marks;
  readonly outcomes: Outcomes;
  readonly links: MailLinks;
  readonly local: LocalDelivery;
  /** Turns of long mails, which are held whole while they are sent. */
  readonly longMails: AccountPlaces;
  /** Waits for its turn under EMAIL_PER_SECOND. */
  readonly pace: () => Promise<void>;
}

export interface ToSend {
  readonly row: MessageRow;
  readonly recipients: readonly RecipientRow[];
  /** As `packContent` made it. */
  readonly packed: Buffer;
  /** Of this attempt. */
  readonly attempt: number;
  /** A caller waits: that no relay can be reached is told at once, and not tried again. */
  readonly waits: boolean;
  /** Of the call that waits. */
  readonly key: IdempotencyKey | null;
}

export interface Attempted {
  readonly written: Written;
  /** Why nobody was taken; null: somebody was, or it goes on. */
  readonly failure: Problem | null;
}

/** A copy, or the one mail of all. */
interface Copy {
  readonly source: Buffer;
  readonly recipients: readonly RecipientRow[];
}

/** Null: another attempt has the mail, or it is over. */
export async function attemptToSend(
  host: SendingHost,
  mail: ToSend,
  stop: AbortSignal | null,
): Promise<Attempted | null> {
  const { row } = mail;
  const pending = mail.recipients.filter(({ status }) => isPending(status));
  const content = unpackContent(mail.packed);
  const key = await keyOf(host, row);
  const [here, elsewhere] = await byPlace(host, pending, row);
  const delivered = await deliverHere(host, mail, content, key, here);
  const relayed =
    elsewhere.length === 0
      ? nothing
      : await relay(host, mail, content, key, elsewhere, { stop, signal: AbortSignal.timeout(ATTEMPT_MS_MAX) });
  if (relayed === null) return null;
  const results = [...delivered, ...relayed.results];
  const retryInMs = results.some(({ status }) => status === 'deferred') ? pauseOf(row) : null;
  const isNobody = results.every(({ status }) => status === 'bounced' || status === 'failed');
  const written = await host.outcomes.write(row.account_id, {
    emailId: row.email_id,
    results,
    from: 'pending',
    attempt: mail.attempt,
    vendor: relayed.vendor ?? row.vendor,
    ...(retryInMs === null ? {} : { retryMs: host.core.vendors.health.nowMs + retryInMs }),
    freesKey: isNobody && mail.waits ? mail.key : null,
  });
  if (written === null) return null;
  return { written, failure: isNobody || relayed.isUnknown ? relayed.failure : null };
}

async function keyOf({ keys }: SendingHost, row: MessageRow): Promise<DkimKey> {
  const { selector, privateKey } = await keys.of(row.account_id);
  return { domain: row.from_domain, selector, privateKey };
}

interface Here {
  readonly recipient: RecipientRow;
  /** Null: the outbox keeps it. */
  readonly inbox: { readonly accountId: string; readonly inboxId: string } | null;
}

/** Recipients with an inbox here, and the others; the outbox has room for all others too. */
async function byPlace({ local }: SendingHost, pending: readonly RecipientRow[], { captured }: MessageRow) {
  const inboxes = await local.inboxesOf(pending.map(({ address }) => address.toLowerCase()));
  const here: Here[] = [];
  const elsewhere: RecipientRow[] = [];
  for (const recipient of pending) {
    const inbox = inboxes.get(recipient.address.toLowerCase()) ?? null;
    if (inbox !== null || captured) here.push({ recipient, inbox });
    else elsewhere.push(recipient);
  }
  return [here, elsewhere] as const;
}

async function deliverHere(
  host: SendingHost,
  mail: ToSend,
  content: MailContent,
  key: DkimKey,
  here: readonly Here[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of here) results.push(await deliverOne(host, mail, content, key, one));
  return results;
}

async function deliverOne(
  host: SendingHost,
  { row, packed }: ToSend,
  content: MailContent,
  key: DkimKey,
  { recipient: { number, address }, inbox }: Here,
): Promise<Result> {
  if (inbox === null) {
    return { number, status: 'delivered', code: null, detail: 'Kept in the outbox; nothing left the service.' };
  }
  const links = hasOwnCopies(row) ? host.links.copyOf(row, number, content) : null;
  const source = await host.composer.compose(row.account_id, packed, links, key);
  const outcome = await host.local.deliver({
    ...inbox,
    address,
    source,
    envelopeFrom: row.from_address,
    senderId: row.account_id,
  });
  if (outcome.kind === 'delivered') {
    return { number, status: 'delivered', code: null, detail: 'Delivered to an inbox of this service.' };
  }
  const { kind, code, detail } = outcome;
  return { number, status: kind === 'refused' ? 'bounced' : deferral(row), code, detail };
}

/** When an attempt ends: at the stop of the process while nothing is handed over, and in time. */
interface Ends {
  readonly stop: AbortSignal | null;
  readonly signal: AbortSignal;
}

interface Sent {
  readonly results: readonly Result[];
  readonly vendor: string | null;
  readonly failure: Problem | null;
  readonly isUnknown: boolean;
}

const nothing: Sent = { results: [], vendor: null, failure: null, isUnknown: false };

async function relay(
  host: SendingHost,
  mail: ToSend,
  content: MailContent,
  key: DkimKey,
  recipients: readonly RecipientRow[],
  ends: Ends,
): Promise<Sent | null> {
  const { row, packed } = mail;
  // Before anything is composed.
  const relays = relaysFor(host, row);
  if (relays.length > 0 && relays.every((relay) => relay.isDown)) {
    return notReached(mail, recipients, row.vendor, 'The relay has failed before and is left alone for a while.');
  }
  const own = hasOwnCopies(row);
  const groups = own ? recipients.map((one) => [one]) : [recipients];
  const results: Result[] = [];
  let last: Sent = nothing;
  for (const group of groups) {
    const links = own ? host.links.copyOf(row, (group[0] as RecipientRow).number, content) : null;
    const source = await host.composer.compose(row.account_id, packed, links, key);
    const sent = await sendCopy(host, mail, { source, recipients: group }, ends);
    if (sent === null) return null;
    results.push(...sent.results);
    last = { ...sent, failure: sent.failure ?? last.failure, isUnknown: sent.isUnknown || last.isUnknown };
  }
  return { ...last, results };
}

/** By the first relay that can be reached. */
async function sendCopy(host: SendingHost, mail: ToSend, copy: Copy, { stop, signal }: Ends): Promise<Sent | null> {
  const { row, attempt } = mail;
  const numbers = copy.recipients.map(({ number }) => number);
  const envelope = {
    from: envelopeFrom(host, row),
    to: copy.recipients.map(({ address }) => address),
    source: copy.source,
  };
  const mark = async () => {
    await host.pace();
    stop?.throwIfAborted();
    return host.marks.mark(row.account_id, row.email_id, attempt, numbers);
  };
  let failed: {
    readonly relay: Relay;
    readonly relayed: Exclude<Relayed, { kind: 'unmarked' | 'answered' | 'unknown' }>;
  } | null = null;
  for (const relay of relaysFor(host, row)) {
    const relayed = await relay.handOver(row.account_id, envelope, mark, signal);
    if (relayed.kind === 'unmarked') return null;
    if (relayed.kind === 'answered') return sentOutcome(mail, copy, relay, relayed.replies);
    if (relayed.kind === 'unknown') return unknown(copy, relay, relayed.detail);
    failed = { relay, relayed };
  }
  const why = failed?.relayed.reply.detail ?? 'No relay is configured for this mail any more.';
  return notReached(mail, copy.recipients, failed?.relay.vendor.id ?? row.vendor, why);
}

function relaysFor({ relays }: SendingHost, { vendor, vendor_pinned: isPinned }: MessageRow): readonly Relay[] {
  return isPinned ? relays.all.filter((relay) => relay.vendor.id === vendor) : relays.all;
}

function envelopeFrom({ core, settings }: SendingHost, row: MessageRow): string {
  return settings.bounceDomain === null
    ? row.from_address
    : bounceAddress(core.secrets, row.email_id, settings.bounceDomain);
}

function sentOutcome(mail: ToSend, { recipients }: Copy, relay: Relay, replies: ReadonlyMap<string, Reply>): Sent {
  const results = recipients.map((recipient) => resultOf(mail, recipient, replies.get(recipient.address)));
  const isNobody = results.every(({ status }) => status === 'bounced');
  const [first] = results;
  return {
    results,
    vendor: relay.vendor.id,
    isUnknown: false,
    failure: isNobody
      ? problem('EMAIL_SEND_FAILED', {
          detail: detailOf(first?.detail),
          message: 'The relay refused the mail for all recipients.',
          retryable: false,
        })
      : null,
  };
}

function resultOf({ row }: ToSend, { number }: RecipientRow, reply: Reply | undefined): Result {
  // A relay that passes over a recipient has not taken the mail for them.
  const { status, code, detail } = reply ?? {
    status: 450,
    code: null,
    detail: 'The relay said nothing of this recipient.',
  };
  const kind = (status ?? 0) < 400 ? 'sent' : (status ?? 0) < 500 ? deferral(row) : 'bounced';
  return { number, status: kind, code, detail };
}

const deferral = ({ deferrals }: MessageRow) => (deferrals < DEFERRED_MS.length ? 'deferred' : 'failed');
const pauseOf = ({ deferrals }: MessageRow) => DEFERRED_MS[deferrals] as number;

function unknown({ recipients }: Copy, relay: Relay, why: string): Sent {
  const detail = `The relay was given the mail, and its answer is not known: ${why}`;
  return {
    results: recipients.map(({ number }) => ({ number, status: 'indeterminate', code: null, detail })),
    vendor: relay.vendor.id,
    isUnknown: true,
    failure: problem('VENDOR_TIMEOUT', {
      message: 'The mail was handed over, and the answer of the relay is not known. It is not sent again by itself.',
    }),
  };
}

/** Whoever waits is told; a mail in the background is tried again, for nobody else would. */
function notReached(mail: ToSend, recipients: readonly RecipientRow[], vendor: string, why: string): Sent {
  const status = mail.waits ? 'failed' : deferral(mail.row);
  return {
    results: recipients.map(({ number }) => ({ number, status, code: null, detail: why })),
    vendor,
    isUnknown: false,
    failure: problem('EMAIL_SEND_FAILED', { detail: detailOf(why), message: 'No relay could be reached.' }),
  };
}

const detailOf = (text: string | null | undefined) => text ?? 'unreached';
