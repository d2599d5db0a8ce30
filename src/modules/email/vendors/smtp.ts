// One SMTP session with a relay (RFC 5321), through nodemailer's client: connect, log in, hand over mails one after the other. The relay's reply
// for each recipient is kept apart from unknown results.
import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { isLoopback } from '../../../lib/loopback.ts';

const CONNECT_MS_MAX = 10_000;
const SILENT_MS_MAX = 20_000;
const REPLY_BYTES_MAX = 16 * 1024;
const PIECE_BYTES = 64 * 1024;
const DETAIL_CHARACTERS_MAX = 300;
const PORT = 587;
const TLS_PORT = 465;

/** A reply of the relay. */
export interface Reply {
  /** 250, 450, 550; null: it said none. */
  readonly status: number | null;
  /** The enhanced status code (RFC 3463) where there is one, else the reply's. */
  readonly code: string | null;
  readonly detail: string;
}

export type HandOver =
  /** By address. */
  | { readonly kind: 'answered'; readonly replies: ReadonlyMap<string, Reply> }
  /** Surely not taken: there was no connection, no login, or it ended before the mail was handed over. */
  | { readonly kind: 'unreached'; readonly cause: 'connection' | 'login' | 'timeout'; readonly reply: Reply }
  /** All of it was handed over, and no answer came. */
  | { readonly kind: 'unknown'; readonly detail: string };

export interface Envelope {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: Buffer;
}

export interface RelayAddress {
  /** smtp://user:password@host:port or smtps://… */
  readonly url: string;
  /** How this service calls itself. */
  readonly name: string;
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
  readonly rejectedErrors?: readonly SmtpError[];
  readonly recipient?: string;
}

interface SentInfo {
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
  readonly rejectedErrors?: readonly SmtpError[];
  readonly response: string;
}

export class SmtpSession {
  readonly #connection: SMTPConnection;
  readonly #auth: { readonly user: string; readonly pass: string } | null;
  #failure: SmtpError | null = null;
  #reject: (error: SmtpError) => void = () => undefined;
  /** When it last handed something over. */
  usedMs = performance.now();

  constructor({ url: address, name }: RelayAddress) {
    const url = new URL(address);
    const secure = url.protocol === 'smtps:';
    const isHere = isLoopback(url.hostname);
    this.#auth =
      url.username === '' ? null : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
    this.#connection = new SMTPConnection({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port) || (secure ? TLS_PORT : PORT),
      secure,
      name,
      // A relay elsewhere must speak TLS: whoever stands between could take STARTTLS out of its greeting.
      requireTLS: !secure && !isHere,
      ignoreTLS: !secure && isHere,
      allowInternalNetworkInterfaces: true,
      connectionTimeout: CONNECT_MS_MAX,
      greetingTimeout: CONNECT_MS_MAX,
      dnsTimeout: CONNECT_MS_MAX,
      socketTimeout: SILENT_MS_MAX,
      maxResponseSize: REPLY_BYTES_MAX,
    });
    this.#connection.on('error', (error: SmtpError) => this.#fail(error));
    this.#connection.on('end', () => this.#fail(new Error('the relay closed the connection')));
  }

  get isOver(): boolean {
    return this.#failure !== null;
  }

  /** Null: it is ready for mail. */
  async open(signal: AbortSignal): Promise<Extract<HandOver, { kind: 'unreached' }> | null> {
    const auth = this.#auth;
    try {
      await this.#until<void>(signal, (done) => this.#connection.connect((error) => done(error ?? null)));
      if (auth !== null) {
        await this.#until<void>(signal, (done) =>
          this.#connection.login({ ...auth, credentials: auth }, (error) => done(error ?? null)),
        );
      }
      return null;
    } catch (error) {
      this.close();
      const { code, responseCode } = error as SmtpError;
      const cause =
        code === 'EAUTH' && responseCode !== undefined ? 'login' : code === 'ETIMEDOUT' ? 'timeout' : 'connection';
      return { kind: 'unreached', cause, reply: replyOf(error as SmtpError) };
    }
  }

  /** Hands one mail over. After anything but an answer the session is closed. */
  async send({ from, to, source }: Envelope, signal: AbortSignal): Promise<HandOver> {
    let isHandedOver = false;
    const stream = Readable.from(piecesOf(source));
    stream.on('end', () => {
      isHandedOver = true;
    });
    try {
      const info = await this.#until<SentInfo>(signal, (done) =>
        this.#connection.send({ from, to: [...to], size: source.length }, stream, (error, sent) =>
          done(error ?? null, sent as unknown as SentInfo),
        ),
      );
      this.usedMs = performance.now();
      const taken = replyFrom(info.response);
      const replies = new Map(info.accepted.map((address) => [address, taken]));
      for (const refused of info.rejectedErrors ?? []) replies.set(refused.recipient ?? '', replyOf(refused));
      return { kind: 'answered', replies };
    } catch (error) {
      this.close();
      return handOverOf(error as SmtpError, to, isHandedOver);
    }
  }

  close(): void {
    this.#failure ??= new Error('the session is closed');
    this.#connection.close();
  }

  #fail(error: SmtpError): void {
    this.#failure ??= error;
    this.#reject(error);
  }

  #until<T>(signal: AbortSignal, act: (done: (error: SmtpError | null, value?: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      const stop = () => reject(Object.assign(new Error('the relay took too long'), { code: 'ETIMEDOUT' }));
      this.#reject = reject;
      signal.addEventListener('abort', stop, { once: true });
      act((error, value) => {
        signal.removeEventListener('abort', stop);
        if (error === null) resolve(value as T);
        else reject(error);
      });
      if (signal.aborted) stop();
    });
  }
}

/** What a failed send says of each recipient. */
function handOverOf(error: SmtpError, to: readonly string[], isHandedOver: boolean): HandOver {
  const reply = replyOf(error);
  if (reply.status === null) {
    if (isHandedOver) return { kind: 'unknown', detail: reply.detail };
    return { kind: 'unreached', cause: error.code === 'ETIMEDOUT' ? 'timeout' : 'connection', reply };
  }
  const ofRecipients = new Map((error.rejectedErrors ?? []).map((one) => [one.recipient ?? '', replyOf(one)]));
  return { kind: 'answered', replies: new Map(to.map((address) => [address, ofRecipients.get(address) ?? reply])) };
}

const TOO_LARGE = { status: 552, code: '5.3.4' };

function replyOf({ response, responseCode, code, message }: SmtpError): Reply {
  // The client looks at the size that the relay takes, and asks it no further.
  if (code === 'EMESSAGE' && response === undefined) return { ...TOO_LARGE, detail: detailText(message) };
  return response === undefined || responseCode === undefined
    ? { status: null, code: null, detail: detailText(message) }
    : { ...replyFrom(response), status: responseCode };
}

/** `250 2.0.0 Ok: queued as 4XJ`, of several lines too. */
export function replyFrom(response: string): Reply {
  const [, status, enhanced] = /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3}))?/.exec(response) ?? [];
  return {
    status: status === undefined ? null : Number(status),
    code: enhanced ?? status ?? null,
    detail: detailText(response),
  };
}

function detailText(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .toWellFormed()
    .slice(0, DETAIL_CHARACTERS_MAX);
}

function* piecesOf(source: Buffer): Generator<Buffer> {
  for (let at = 0; at < source.length; at += PIECE_BYTES) yield source.subarray(at, at + PIECE_BYTES);
}
