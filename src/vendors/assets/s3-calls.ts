// Requests to a bucket: signed, bounded in time and bytes, retried where that helps, with error messages that an operator can use. Each may
// be sent twice: all are idempotent.
import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../lib/backoff.ts';
import { type AwsKey, signatureHeaders } from '../../lib/sigv4.ts';
import type { HttpMethod, OutboundClient } from '../http/port.ts';
import { AssetsUnavailable } from './port.ts';

export interface S3Bucket extends AwsKey {
  readonly bucket: string;
  /** Origin of the service. */
  readonly endpoint: string;
  /** The bucket stands in the path; else before the host. */
  readonly pathStyle: boolean;
}

/** So many bytes of a file from `start` on, with their SHA-256 in hexadecimal. */
export interface FilePart {
  readonly path: string;
  readonly start: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface S3Call {
  readonly method: HttpMethod;
  /** Null: the bucket itself. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | FilePart;
  /** Statuses beyond 2xx that the caller wants to see. */
  readonly also?: readonly number[];
}

export interface S3Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

const NO_BODY = new Uint8Array();
const TRIES = 3;
const BACKOFF = { firstMs: 200, maxMs: 1_000, factor: 5 };
const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;
/** Of a call with a body: a part, over a slow line. */
const SENDING_MS = 15 * 60_000;
/** A video is read as fast as somebody watches it. */
const READING_MS = 6 * 60 * 60_000;
const ANSWER_BYTES_MAX = 2 ** 32;
const TEXT_BYTES_MAX = 4 * 1024 * 1024;
const PASSING_CODES = new Set(['RequestTimeout', 'SlowDown', 'InternalError', 'ServiceUnavailable']);

/** What the operator has to mend, by the code of the service. */
const SENTENCES: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'ASSETS_ACCESS_KEY_ID is not known there',
  SignatureDoesNotMatch: 'ASSETS_SECRET_ACCESS_KEY is not the secret of ASSETS_ACCESS_KEY_ID',
  AccessDenied: 'ASSETS_ACCESS_KEY_ID may not do that there; docs/self-hosting.md says what it must be allowed',
  NoSuchBucket: 'there is no such bucket',
  AuthorizationHeaderMalformed: 'the bucket is in another region; say which by region=',
  PermanentRedirect: 'the bucket is in another region; say which by region= and endpoint=',
  RequestTimeTooSkewed: 'the clock of this machine is off by more than the service accepts',
  QuotaExceeded: 'the bucket is full',
};

export class S3Calls {
  readonly #at: S3Bucket;
  readonly #outbound: Pick<OutboundClient, 'send'>;

  constructor(at: S3Bucket, outbound: Pick<OutboundClient, 'send'>) {
    this.#at = at;
    this.#outbound = outbound;
  }

  /** The answer, whose body is to be read or destroyed. Throws AssetsUnavailable. */
  async send(call: S3Call): Promise<S3Answer> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#once(call);
      } catch (error) {
        if (tried === TRIES || !(error instanceof AssetsUnavailable) || error.isRefused) throw error;
        await sleep(backoffMs(BACKOFF, tried));
      }
    }
  }

  /** The same, for an answer of XML or of nothing. */
  async text(
    call: S3Call,
  ): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly xml: string }> {
    const { status, headers, body } = await this.send(call);
    const xml = await shortText(body);
    if (xml === null) throw this.#unavailable('its answer broke off');
    // Some answers begin before the work is done, and tell its failure afterwards.
    if (status === 200 && xml.includes('<Error>')) throw this.failure(status, xml);
    return { status, headers, xml };
  }

  async #once({ method, key, query = {}, headers = {}, body = NO_BODY, also = [] }: S3Call): Promise<S3Answer> {
    const isFile = !(body instanceof Uint8Array);
    const url = this.#url(key, query);
    const payload = isFile ? body.sha256 : hash('sha256', body);
    const head = { method, url: url.pathname + url.search, headers: { ...headers, host: url.host } };
    const reply = await this.#outbound.send({
      method,
      url: url.href,
      headers: { ...headers, ...signatureHeaders(head, this.#at, payload, Date.now()) },
      body: isFile ? createReadStream(body.path, { start: body.start, end: body.start + body.bytes - 1 }) : body,
      ...(isFile ? { bodyBytes: body.bytes } : {}),
      operator: { origin: url.origin },
      limits: {
        connectMs: CONNECT_MS,
        firstByteMs: ANSWER_MS,
        idleMs: ANSWER_MS,
        totalMs: method === 'GET' ? READING_MS : SENDING_MS,
        answerBytesMax: ANSWER_BYTES_MAX,
      },
      signal: new AbortController().signal,
    });
    if (reply.kind === 'failed') throw this.#unavailable(`it did not answer: ${reply.message}`);
    if ((reply.status >= 200 && reply.status < 300) || also.includes(reply.status)) return reply;
    throw this.failure(reply.status, (await shortText(reply.body)) ?? '');
  }

  #url(key: string | null, query: Readonly<Record<string, string>>): URL {
    const { endpoint, bucket, pathStyle } = this.#at;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `${pathStyle ? `/${bucket}` : ''}${key === null ? '' : `/${key}`}` || '/';
    url.search = new URLSearchParams(query).toString().replaceAll('+', '%20');
    return url;
  }

  /** Of an answer that is none that was asked for. */
  failure(status: number, xml: string): AssetsUnavailable {
    const code = tagOf(xml, 'Code') ?? '';
    const isPassing = status >= 500 || status === 429 || PASSING_CODES.has(code);
    const why = SENTENCES[code] ?? `it answered ${status}${code === '' ? '' : ` ${code.slice(0, 80)}`}`;
    return isPassing ? this.#unavailable(why) : new AssetsUnavailable(`${this.#name} refuses: ${why}.`, true);
  }

  #unavailable(why: string): AssetsUnavailable {
    return new AssetsUnavailable(`${this.#name} cannot be used now: ${why}`, false);
  }

  get #name(): string {
    return `The bucket ${this.#at.bucket} at ${this.#at.endpoint}`;
  }
}

/** What stands in the first such element; keys and codes need no entities. */
export function tagOf(xml: string, name: string): string | null {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? null;
}

/** Null: it broke off, or is too long. */
export async function shortText(body: Readable): Promise<string | null> {
  let bytes = 0;
  body.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > TEXT_BYTES_MAX) body.destroy();
  });
  try {
    return await text(body);
  } catch {
    return null;
  }
}
