// Where mail waits to be read in a thread: few at a time, in turns by who sent it, each with a bound of time and memory. What a thread
// dies of says nothing of the mail: then only its header is read, here.
import { AccountTurns } from '../../../core/account-turns.ts';
import { cleanText } from '../../../lib/clean-text.ts';
import { Threads } from '../../../lib/threads.ts';
import { type AuthSettings, authUnknown, type MailAuth, type MailOrigin } from './auth.ts';
import { fieldGroups } from './fields.ts';
import type { ParsedMail } from './parse.ts';
import type { SubmittedMail } from './parse-submission.ts';
import type { Report } from './report.ts';
import type { ReadAnswer, ReadMail, ReadTask } from './thread.ts';

const READ_MS = 20_000;
const HEAP_MB = 256;
const OUTSIDE_HEAP_MB = 256;
const AT_ONCE = 2;
const HEADER_BYTES_READ = 16 * 1024;

export interface MailRead {
  readonly mail: ParsedMail;
  readonly auth: MailAuth;
}

export class MailReader {
  readonly #threads = new Threads<ReadTask, ReadAnswer>(new URL('./thread.ts', import.meta.url), {
    ...{ heapMb: HEAP_MB, outsideHeapMb: OUTSIDE_HEAP_MB },
  });
  readonly #turns: AccountTurns;
  readonly #settings: AuthSettings;

  /** `processes`: so many share the machine. */
  constructor(settings: AuthSettings, processes: number) {
    this.#settings = { dnsServers: settings.dnsServers };
    this.#turns = new AccountTurns(Math.max(1, Math.ceil(AT_ONCE / processes)));
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
    return this.#turns.run(sharer, async () => {
      const ended = new AbortController();
      const timer = setTimeout(() => ended.abort(), READ_MS);
      try {
        return await this.#threads.run(task, ended.signal);
      } finally {
        clearTimeout(timer);
      }
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
    ...{ from, fromAddress: (/<([^<>]*)>/.exec(from)?.[1] ?? from).trim().toLowerCase() },
    ...{ to: (fields.get('to') ?? []).slice(0, 1).map(() => first('to')), cc: [], replyTo: first('reply-to') || null },
    ...{ subject: first('subject'), text: null, html: null, isCut: true, attachments: [] },
    ...{ messageId: ids('message-id')[0] ?? null, inReplyTo: ids('in-reply-to')[0] ?? null },
    ...{ references: ids('references'), hops: fields.get('received')?.length ?? 0 },
  };
}
