// One HTTP request, bounded in time and in bytes read. Redirects are not followed: they would send the key to another address.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { memberSources } from '../../lib/json-source.ts';
import { CommandError } from '../output.ts';
import type { Access } from './profile.ts';

const CONNECT_MS = 10_000;
/** A chat that is not streamed may take a quarter of an hour. */
const SILENCE_MS = 16 * 60_000;
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export interface HttpRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Without a byte in either direction. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
}

/** Nothing came back. `connected`: so whether the call has happened is not known. */
export class Unanswered extends CommandError {
  override readonly name = 'Unanswered';
  readonly connected: boolean;

  constructor(message: string, cause: unknown, connected: boolean) {
    super(message, { cause });
    this.connected = connected;
  }
}

/** What a service says of a call that failed. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly docs_url?: string;
  readonly log_url?: string;
  readonly request_id?: string;
  readonly retry_after_ms?: number;
  readonly errors?: readonly { readonly param?: string; readonly message?: string }[];
}

export class CallFailed extends CommandError {
  override readonly name = 'CallFailed';
  readonly failure: Failure;
  readonly url: string;
  readonly status: number;

  constructor(url: string, status: number, failure: Failure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
    this.url = url;
    this.status = status;
  }
}

export interface Envelope {
  /** JSON text, as it was sent. */
  readonly data: string;
  readonly warnings: readonly string[];
}

/** Resolves with the head of the answer. Throws Unanswered. */
export async function send(url: string, request: HttpRequest): Promise<IncomingMessage> {
  const { request: begin } = url.startsWith('https:') ? await import('node:https') : await import('node:http');
  const { method = 'GET', headers = {}, body, silenceMs = SILENCE_MS, signal } = request;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = begin(url, { method, headers: { ...headers, ...length }, timeout: silenceMs, signal });
    sent.once('response', resolve);
    sent.once('timeout', () => sent.destroy(new Error(`nothing came for ${silenceMs / 1000} s`)));
    let connected = false;
    const fail = (cause: Error) =>
      reject(new Unanswered(`no answer from ${new URL(url).origin}: ${reasonOf(cause)}`, cause, connected));
    sent.once('error', fail);
    boundConnecting(sent, () => {
      connected = true;
    });
    sent.end(body);
  });
}

function boundConnecting(sent: ClientRequest, onConnected: () => void): void {
  const late = setTimeout(() => sent.destroy(new Error('no connection within 10 s')), CONNECT_MS);
  const endConnecting = () => {
    clearTimeout(late);
    onConnected();
  };
  sent.once('close', () => clearTimeout(late));
  sent.once('socket', (socket) => (socket.connecting ? socket.once('connect', endConnecting) : endConnecting()));
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was lost',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'unknown host',
  ENETUNREACH: 'no network',
};

function reasonOf(error: Error): string {
  return REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? error.message;
}

/** The answer as text. Throws Unanswered when it breaks off or is too long. */
export async function readText(answer: IncomingMessage, bytesMax = ANSWER_BYTES_MAX): Promise<string> {
  const body = answer.headers['content-encoding'] === 'gzip' ? await unzipBody(answer) : answer;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new Error(`it is longer than ${bytesMax / 1024 / 1024} MiB`);
      chunks.push(chunk);
    }
  } catch (cause) {
    answer.destroy();
    throw new Unanswered(`the answer could not be read: ${reasonOf(cause as Error)}`, cause, true);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function unzipBody(answer: IncomingMessage): Promise<Readable> {
  const { createGunzip } = await import('node:zlib');
  // What fails in either fails the reading, too.
  return pipeline(answer, createGunzip(), () => undefined);
}

/** One call with the key. @param path from `/v1` on, with its query */
export function begin({ url, key }: Access, path: string, request: HttpRequest = {}): Promise<IncomingMessage> {
  const type: Record<string, string> = request.body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json', ...type, ...request.headers };
  return send(url + path, { ...request, headers });
}

/** Reads the envelope of an answer. Throws CallFailed with what the service says. */
export async function readEnvelope(url: string, answer: IncomingMessage): Promise<Envelope> {
  const text = await readText(answer);
  const status = answer.statusCode ?? 0;
  const envelope = parseEnvelope(text);
  if (envelope?.ok === true) {
    const data = memberSources(text).get('data');
    if (data !== undefined)
      return { data: text.slice(data.start, data.end), warnings: envelope.metadata?.warnings ?? [] };
  }
  if (typeof envelope?.error?.code === 'string') throw new CallFailed(url, status, envelope.error);
  const led = answer.headers.location === undefined ? '' : `, which leads to ${answer.headers.location}`;
  throw new CommandError(`${url} does not answer as Quartermaster does: status ${status}${led}. Is the address right?`);
}

interface ReadEnvelope {
  readonly ok?: boolean;
  readonly error?: Failure;
  readonly metadata?: { readonly warnings?: readonly string[] };
}

function parseEnvelope(text: string): ReadEnvelope | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const READ_SILENCE_MS = 30_000;

/** A read of the service, for commands that show parts of it. */
export async function readPath(to: Access, path: string, signal?: AbortSignal): Promise<Envelope> {
  return readEnvelope(to.url, await begin(to, path, { silenceMs: READ_SILENCE_MS, signal }));
}
