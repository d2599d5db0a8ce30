// From a send call to a message: candidate carriers, price, and the stored form of the text.

import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { invalidField } from '../../../problems/problem.ts';
import type { Candidate } from '../../../routing/choose.ts';
import { SANDBOX } from '../../../vendors/file/port.ts';
import { SEND, segmentNanos, sendersOf } from '../carriers/family.ts';
import { requireNumber } from '../numbers.ts';
import { countSegments } from '../segments.ts';
import type { SmsSettings } from '../settings.ts';
import { optOutProblem, stoppedFrom } from './opt-outs.ts';
import type { Link, MessageRow } from './row.ts';

const CAPTURED =
  'Nothing left the service: the sandbox captured the message, at its price, for no carrier is configured. VENDORS_FILE names one.';

export interface WantedSms {
  readonly to: string;
  readonly text: string;
  readonly from?: string | undefined;
  readonly vendor?: string | undefined;
  /** In `text`: masked in what is stored, unless the message goes nowhere. */
  readonly code?: string | undefined;
}

export interface Composed {
  readonly row: Omit<MessageRow, 'hold_id' | 'created_at' | 'due_at'>;
  /** The most that it may cost. */
  readonly heldNanos: bigint;
  readonly prefix: string;
  readonly isSandboxed: boolean;
}

/** Throws VALIDATION_FAILED, VENDOR_NOT_AVAILABLE, RECIPIENT_SUPPRESSED. */
export async function composeSms(ctx: CallContext, { countries }: SmsSettings, wanted: WantedSms): Promise<Composed> {
  const { prefix } = await requireNumber(wanted.to, 'to', countries);
  const { encoding, count } = await countSegments(wanted.text);
  const links = await openLinks(ctx, wanted, BigInt(count));
  const [first] = links;
  const isSandboxed = first.vendor === SANDBOX;
  if (isSandboxed && wanted.vendor === undefined) ctx.warnings.push(CAPTURED);
  const smsId = newId('sms_');
  const masked =
    wanted.code === undefined || isSandboxed
      ? wanted.text
      : wanted.text.replaceAll(wanted.code, '•'.repeat(wanted.code.length));
  const row: Composed['row'] = {
    account_id: ctx.accountId,
    sms_id: smsId,
    direction: 'outbound',
    key_id: ctx.principal.id,
    request_id: ctx.requestId,
    to_number: wanted.to,
    from_number: first.from,
    text: masked,
    encoding,
    segments: count,
    sealed_text: masked === wanted.text ? null : ctx.core.secrets.encrypt('sms-text', smsId, wanted.text),
    status: 'queued',
    error_code: null,
    detail: null,
    vendor: first.vendor,
    chain: JSON.stringify(links),
    captured: isSandboxed,
    capability: ctx.capability,
    cost_nanos: 0n,
    sending: false,
    attempt: 0,
    sent_at: null,
    ended_at: null,
  };
  const heldNanos = links.map(({ nanos }) => BigInt(nanos)).reduce((most, one) => (one > most ? one : most));
  return { row, heldNanos, prefix, isSandboxed };
}

/** What is handed over. */
export function sealedText(secrets: Secrets, { sms_id, text, sealed_text }: MessageRow): string {
  return sealed_text === null ? text : secrets.decrypt('sms-text', sms_id, sealed_text);
}

/** Without those whose sender the number has stopped; the first of them decides whether there is a message at all. */
async function openLinks(ctx: CallContext, wanted: WantedSms, segments: bigint): Promise<[Link, ...Link[]]> {
  const { core, accountId } = ctx;
  const chain = chainFor(ctx, wanted, segments);
  const links = chain.map((candidate) => linkOf(candidate, wanted, segments)) as [Link, ...Link[]];
  const sandboxOf = links[0].vendor === SANDBOX ? accountId : null;
  const stopped = await stoppedFrom(
    core.db,
    sandboxOf,
    links.map(({ from }) => from),
    wanted.to,
  );
  if (stopped.has(links[0].from)) throw optOutProblem(links[0].from);
  return links.filter(({ from }) => !stopped.has(from)) as [Link, ...Link[]];
}

function chainFor({ core }: CallContext, { from, vendor }: WantedSms, segments: bigint): readonly Candidate[] {
  const choice = core.vendors.choose<'sender'>({
    capability: SEND,
    model: null,
    vendor: vendor ?? null,
    crossRegion: false,
    unable: (row) =>
      from === undefined || row.vendor.id === SANDBOX || sendersOf(row).includes(from) ? null : 'sender',
    quote: (row) => segmentNanos(row) * segments,
  });
  if (choice.kind === 'chain') return choice.chain;
  const senders = [...new Set(choice.models.flatMap(({ row }) => sendersOf(row)))].slice(0, 10).join(', ');
  throw invalidField('from', 'sender', `No carrier sends from it; there are ${senders}.`);
}

function linkOf(
  { vendor, model, region, markupPct, priceVersion, row }: Candidate,
  { from }: WantedSms,
  segments: bigint,
): Link {
  const nanos = String(segmentNanos(row) * segments);
  return { vendor, model, region, markupPct, priceVersion, from: from ?? sendersOf(row)[0], nanos };
}
