// Reads mail in threads: few mails at a time, each with limits of time and memory. No sender ever has all threads. The death of a thread says
// nothing of its mail: then only its header is read, here.
import { AccountThreads } from '../../../core/account-threads.ts';
import { cleanText } from '../../../lib/clean-text.ts';
import { type AuthSettings, authUnknown, type MailAuth, type MailOrigin } from './auth.ts';
import { fieldGroups } from './fields.ts';
import type { ParsedMail } from './parse.ts';
import type { SubmittedMail } from './parse-submission.ts';
import type { Report } from './report.ts';
import type { ReadAnswer, ReadMail, ReadTask } from './thread.ts';

/** In each process: of one thread a single sender would have all. */
const BOUNDS = { threads: 2, msMax: 20_000, heapMb: 256, outsideHeapMb: 256 };
const HEADER_BYTES_READ = 16 * 1024;

export interface MailRead {
  readonly mail: ParsedMail;
  readonly auth: MailAuth;
}

export class MailReader {
  readonly #threads = new AccountThreads<ReadTask, ReadAnswer>(new URL('./thread.ts', import.meta.url), BOUNDS);
  readonly #settings: AuthSettings;

  constructor(settings: AuthSettings) {
    this.#settings = { dnsServers: settings.dnsServers };
  }

  /** `auth`: known already; else it is checked by `origin`. Throws CONCURRENCY_LIMITED and OVERLOADED. */
  async mail(sharer: string, source: Buffer, by: { auth: MailAuth } | { origin: MailOrigin }): Promise<MailRead> {
    const check = 'origin' in by ? { check: { ...by.origin, ...this.#settings } } : {};
    const read = (await this.#run(sharer, { kind: 'mail', source, ...check })) as ReadMail | null;
    return {
      mail: read?.mail ?? headerOnly(source),
      auth: 'auth' in by ? by.auth : (read?.auth ?? authUnknown),
    };
  }

  async report(sharer: string, source: Buffer): Promise<Report | null> {
    const read = (await this.#run(sharer, { kind: 'report', source })) as { report: Report | null } | null;
    return read?.report ?? null;
  }

  /** Null: it cannot be taken apart within bounds. */
  async submission(sharer: string, source: Buffer): Promise<SubmittedMail | null> {
    const read = (await this.#run(sharer, { kind: 'submission', source })) as {
      submitted: SubmittedMail | null;
    } | null;
    return read?.submitted ?? null;
  }

  /** Null: the mail has no such attachment. */
  async attachment(sharer: string, source: Buffer, number: number): Promise<Uint8Array | null> {
    const read = (await this.#run(sharer, { kind: 'attachment', source, number })) as {
      bytes: Uint8Array | null;
    } | null;
    return read?.bytes ?? null;
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  /** Null: the thread ended in it. */
  #run(sharer: string, task: ReadTask): Promise<ReadAnswer | null> {
    return this.#threads.run(sharer, null, async (perform) => {
      const done = await perform(task);
      return done.kind === 'answer' ? done.answer : null;
    });
  }
}

/** Of a mail that cannot be taken apart: what its header says, undecoded. */
function headerOnly(source: Buffer): ParsedMail {
  const fields = fieldGroups(source.toString('utf8', 0, HEADER_BYTES_READ))[0] ?? new Map<string, string[]>();
  const first = (name: string) => cleanText((fields.get(name)?.[0] ?? '').slice(0, 998));
  const ids = (name: string) => first(name).match(/<[^<>\s]{1,500}>/g) ?? [];
  const from = first('from');
  return {
    from,
    fromAddress: (/<([^<>]*)>/.exec(from)?.[1] ?? from).trim().toLowerCase(),
    to: (fields.get('to') ?? []).slice(0, 1).map(() => first('to')),
    cc: [],
    replyTo: first('reply-to') || null,
    subject: first('subject'),
    text: null,
    html: null,
    isCut: true,
    attachments: [],
    messageId: ids('message-id')[0] ?? null,
    inReplyTo: ids('in-reply-to')[0] ?? null,
    references: ids('references'),
    hops: fields.get('received')?.length ?? 0,
  };
}
