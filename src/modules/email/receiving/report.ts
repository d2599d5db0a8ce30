// Parser of reports on a mail: delivery status notifications (RFC 3464, RFC 6533), the bounces of exim and qmail in other formats, and
// complaints (ARF, RFC 5965). The sender chooses every byte of a report, so size, parts, depth and recipients are bounded.
import type { Attachment, Email } from 'postal-mime';
import { type Fields, fieldGroups } from './fields.ts';
import { readMime } from './mime.ts';

export type ReportAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export interface ReportedRecipient {
  readonly address: string;
  /** Of a complaint: `delivered`. */
  readonly action: ReportAction;
  /** Enhanced status code (RFC 3463), such as 5.1.1; null: none was told. */
  readonly status: string | null;
  /** What the remote server said, at most 500 characters; of a complaint its kind, such as `abuse`. */
  readonly diagnostic: string | null;
}

export interface Report {
  readonly kind: 'delivery' | 'complaint';
  readonly recipients: readonly ReportedRecipient[];
  /** The envelope sender of the mail that it is about; null: not told. */
  readonly returnPath: string | null;
}

/** A report stands before the mail that it returns, so what lies beyond is never needed. */
const BYTES_READ_MAX = 256 * 1024;
const RECIPIENTS_MAX = 100;
const ADDRESS_CHARACTERS_MAX = 320;
const DIAGNOSTIC_CHARACTERS_MAX = 500;
const BOUNDS = { partsMax: 500, depthMax: 16, headerBytesMax: 64 * 1024 };

const actions: readonly string[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'];
const STATUS = /\b([245]\.\d{1,3}\.\d{1,3})\b/;

/** What the mail reports; null: it is no report, or too hostile to be read as one. */
export async function readReport(source: Buffer): Promise<Report | null> {
  const mail = await readMime(source.subarray(0, BYTES_READ_MAX), BOUNDS);
  if (mail === null) return null;
  return complaintOf(mail) ?? notificationOf(mail) ?? eximBounceOf(mail) ?? qmailBounceOf(mail);
}

function complaintOf(mail: Email): Report | null {
  const part = partOf(mail, 'message/feedback-report');
  const fields = part === null ? undefined : fieldGroups(textOf(part))[0];
  if (fields === undefined) return null;
  const kind = fields.get('feedback-type')?.[0]?.toLowerCase() ?? '';
  // The other kinds (RFC 6650, RFC 6591) say nothing of what a recipient wants.
  if (!['abuse', 'fraud', 'virus', 'other', 'opt-out', 'opt-out-list'].includes(kind)) return null;
  const original = originalOf(mail);
  const told = [...(fields.get('original-rcpt-to') ?? []), ...(fields.get('removal-recipient') ?? [])];
  const named = told.length > 0 ? told : (original?.get('x-hmxmroriginalrecipient') ?? original?.get('to') ?? []);
  return {
    kind: 'complaint',
    recipients: recipientsOf(
      named.map((value) => ({ address: addressOf(value), action: 'delivered', status: null, diagnostic: kind })),
    ),
    returnPath: addressOf(fields.get('original-mail-from')?.[0] ?? original?.get('return-path')?.[0] ?? ''),
  };
}

function notificationOf(mail: Email): Report | null {
  const part = partOf(mail, 'message/delivery-status') ?? partOf(mail, 'message/global-delivery-status');
  if (part === null) return null;
  const groups = fieldGroups(textOf(part));
  const recipients = recipientsOf(groups.flatMap(recipientOf));
  if (recipients.length === 0) return null;
  return { kind: 'delivery', recipients, returnPath: returnPathOf(mail) };
}

/** Of a group of fields about one recipient; none for those about the message. */
function recipientOf(fields: Fields): Candidate[] {
  const value = (name: string) => fields.get(name)?.[0];
  const named = value('original-recipient') ?? value('final-recipient');
  if (named === undefined) return [];
  const diagnostic = withoutType(value('diagnostic-code') ?? '');
  const status = statusIn(value('status') ?? '') ?? statusIn(diagnostic);
  const action = actionOf(value('action') ?? '', status);
  if (action === null) return [];
  // A type that is no mail address, such as x400, says nothing here; then the other field may.
  const address = addressOf(withoutType(named)) ?? addressOf(withoutType(value('final-recipient') ?? ''));
  return [{ address, action, status, diagnostic: diagnostic === '' ? null : diagnostic }];
}

/** Absent or unknown, as some servers have it: by the class of the status. */
function actionOf(told: string, status: string | null): ReportAction | null {
  const word = /^[a-z]+/.exec(told.toLowerCase())?.[0] ?? '';
  if (actions.includes(word)) return word as ReportAction;
  if (status === null) return null;
  return ({ 2: 'delivered', 4: 'delayed', 5: 'failed' } as const)[status[0] as '2' | '4' | '5'];
}

/** Exim before 4.93, and where its bounces are set so: the recipients stand in a header. */
function eximBounceOf(mail: Email): Report | null {
  const failed = mail.headers
    .filter(({ key }) => key === 'x-failed-recipients')
    .flatMap(({ value }) => value.split(','));
  if (failed.length === 0) return null;
  const status = statusIn(mail.text ?? '');
  const diagnostic = /\b[45]\d\d[ -][^\r\n]*/.exec(mail.text ?? '')?.[0] ?? null;
  const recipients = recipientsOf(
    failed.map((value) => ({ address: addressOf(value), action: 'failed', status, diagnostic })),
  );
  return recipients.length === 0 ? null : { kind: 'delivery', recipients, returnPath: returnPathOf(mail) };
}

/** qmail's bounces (QSBMF): paragraphs that begin with the recipient, up to the returned mail. */
function qmailBounceOf(mail: Email): Report | null {
  const text = (mail.text ?? '').replaceAll('\r\n', '\n');
  if (!text.startsWith('Hi. This is the')) return null;
  const [report = ''] = text.split('\n--- ', 1);
  const paragraphs = report.split(/\n[ \t]*\n/).slice(1, RECIPIENTS_MAX + 2);
  const recipients = recipientsOf(
    paragraphs.flatMap((paragraph) => {
      const [, address, words = ''] = /^<([^<>\n]{3,320})>:\n?([\s\S]*)/.exec(paragraph.trimStart()) ?? [];
      if (address === undefined) return [];
      // Its own last words end with (#5.1.1).
      const status = statusIn(/#([245]\.\d+\.\d+)/.exec(words)?.[1] ?? words) ?? '5.0.0';
      return [{ address: addressOf(address), action: 'failed' as const, status, diagnostic: words }];
    }),
  );
  return recipients.length === 0 ? null : { kind: 'delivery', recipients, returnPath: null };
}

interface Candidate extends Omit<ReportedRecipient, 'address'> {
  readonly address: string | null;
}

function recipientsOf(found: readonly Candidate[]): ReportedRecipient[] {
  return found
    .flatMap((each) => (each.address === null ? [] : [{ ...each, address: each.address }]))
    .slice(0, RECIPIENTS_MAX)
    .map((each) => ({ ...each, diagnostic: each.diagnostic === null ? null : plain(each.diagnostic) }));
}

/** One line of what can be shown. */
function plain(text: string): string {
  const start = text.slice(0, 4 * DIAGNOSTIC_CHARACTERS_MAX);
  return start
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, DIAGNOSTIC_CHARACTERS_MAX)
    .toWellFormed();
}

/** Without the type before a semicolon: `rfc822; ada@example.com`. */
function withoutType(value: string): string {
  const at = value.indexOf(';');
  return (at === -1 || at > 40 ? value : value.slice(at + 1)).trim();
}

function statusIn(text: string): string | null {
  return STATUS.exec(text.slice(0, 8_000))?.[1] ?? null;
}

/** Null for what is no address; a name and angle brackets around it do not count. */
function addressOf(value: string): string | null {
  const bare = (/<([^<>]*)>\s*$/.exec(value.slice(0, 1_000))?.[1] ?? value).trim();
  const isAddress = bare.length <= ADDRESS_CHARACTERS_MAX && /^[^\s@<>,;][^\s<>,;]*@[^\s@<>,;]+$/.test(bare);
  return isAddress ? bare : null;
}

function partOf(mail: Email, type: string): Attachment | null {
  return mail.attachments.find(({ mimeType }) => mimeType === type) ?? null;
}

function textOf({ content }: Attachment): string {
  return typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString('utf8');
}

/** The header of the mail that is returned, or reported. */
function originalOf(mail: Email): Fields | undefined {
  const types = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'];
  const part = mail.attachments.find(({ mimeType }) => types.includes(mimeType));
  return part === undefined ? undefined : fieldGroups(textOf(part))[0];
}

function returnPathOf(mail: Email): string | null {
  return addressOf(originalOf(mail)?.get('return-path')?.[0] ?? '');
}
