// A real mail server that keeps what it is sent.
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly from: string;
  /** As it came over the wire. */
  readonly source: string;
  /** The plain text of it, decoded. */
  readonly text: string;
}

export interface Mailbox {
  /** For SMTP_URL. */
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** What it answers to the next mails in place of taking them: reply codes of SMTP. */
  readonly faults: number[];
  stop(): Promise<void>;
}

export async function startMailbox(): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  const faults: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, { envelope }, done) {
      void text(stream).then((source) => {
        const fault = faults.shift();
        if (fault !== undefined) {
          done(Object.assign(new Error('not now'), { responseCode: fault }));
          return;
        }
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), from, source, text: plainText(source) });
        done();
      });
    },
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    faults,
    stop: () => new Promise((stopped) => void server.close(stopped)),
  };
}

/** The text/plain part of a mail of two parts. */
function plainText(source: string): string {
  const [, head = '', body = ''] = /(content-type: text\/plain[\s\S]*?)\r\n\r\n([\s\S]*?)\r\n--/i.exec(source) ?? [];
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  if (!/quoted-printable/i.test(head)) return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
