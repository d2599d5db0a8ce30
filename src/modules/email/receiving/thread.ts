// Entry of the threads that read mail: the sender of a mail chooses how much work that is.
import { serve } from '../../../lib/threads.ts';
import type { AuthSettings, MailAuth, MailOrigin } from './auth.ts';
import { attachmentOf, type ParsedMail, parseMail } from './parse.ts';
import { parseSubmission, type SubmittedMail } from './parse-submission.ts';
import { type Report, readReport } from './report.ts';

export type ReadTask =
  | { readonly kind: 'report'; readonly source: Uint8Array }
  | { readonly kind: 'submission'; readonly source: Uint8Array }
  | { readonly kind: 'attachment'; readonly source: Uint8Array; readonly number: number }
  /** `check`: absent where who sent it is known. */
  | { readonly kind: 'mail'; readonly source: Uint8Array; readonly check?: MailOrigin & AuthSettings };

export interface ReadMail {
  /** Null: it cannot be taken apart within bounds. */
  readonly mail: ParsedMail | null;
  readonly auth: MailAuth | null;
}

export type ReadAnswer =
  | ReadMail
  | { readonly submitted: SubmittedMail | null }
  | { readonly report: Report | null }
  | { readonly bytes: Uint8Array | null };

serve<ReadTask, ReadAnswer>(async (task) => {
  // A copy, which what reads it may keep: the mail lies where threads share it.
  const source = Buffer.from(task.source);
  if (task.kind === 'report') return { report: await readReport(source) };
  if (task.kind === 'submission') return { submitted: await parseSubmission(source) };
  if (task.kind === 'attachment') return { bytes: await attachmentOf(source, task.number) };
  const { check } = task;
  const [mail, auth] = await Promise.all([parseMail(source), check === undefined ? null : checkSource(source, check)]);
  return { mail, auth };
}, transferList);

/** Files of a mail are long: they are handed over. */
function transferList(answer: ReadAnswer): ArrayBuffer[] {
  const files = 'submitted' in answer ? (answer.submitted?.attachments ?? []).map(({ content }) => content) : [];
  const bytes = 'bytes' in answer && answer.bytes !== null ? [answer.bytes] : files;
  return [...new Set(bytes.map(({ buffer }) => buffer as ArrayBuffer))];
}

async function checkSource(source: Buffer, { dnsServers, ...origin }: MailOrigin & AuthSettings): Promise<MailAuth> {
  const { checkMail } = await import('./authenticate.ts');
  return checkMail(source, origin, { dnsServers });
}
