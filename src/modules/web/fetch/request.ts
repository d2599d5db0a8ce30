// One GET through the outbound guard. Redirects are followed here, so that each is checked first by the guard and by the caller. Received bytes,
// inflated bytes and time are bounded over all redirects together.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type Encoding, inflateBody } from '../../../core/inflate.ts';
import type { Services } from '../../../kit/services.ts';
import { Problem } from '../../../problems/problem.ts';
import { PAGE_MS, REDIRECTS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';

export interface Got {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: IncomingHttpHeaders;
  /** Without their content encoding. */
  readonly bytes: Buffer;
  /** There was more. */
  readonly truncated: boolean;
  /** It, and all addresses that led to it, may be reached only because ALLOW_PRIVATE_SOURCES says so. */
  readonly isExempt: boolean;
}

export interface GetOptions {
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /** Received and inflated. */
  readonly bytesMax: number;
  readonly accept?: string;
  /** Counts what is received and inflated; what it throws ends the request. */
  readonly hold?: (bytes: number) => void;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** ALLOW_PRIVATE_SOURCES exempts nothing: a page names the URL, and not a caller. */
  readonly isPublicOnly?: boolean;
  /** Called with each address before it is asked, the first one too; what it throws ends the request. */
  readonly before?: (url: string) => Promise<void>;
  /** All of it, redirects included; 20 s when absent. */
  readonly msMax?: number;
  /** Field of the call that names the URL. */
  readonly param?: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Decompressors of others remember megabytes, which a thousand slow pages would hold. */
const ENCODINGS: Readonly<Record<string, Encoding>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' };
const FIRST_BYTE_MS = 15_000;
const IDLE_MS = 10_000;

/** Throws TARGET_REJECTED for what the guard refuses, TARGET_FAILED for what fails, and what `before` throws. */
export async function get(core: Pick<Services, 'outbound'>, url: string, options: GetOptions): Promise<Got> {
  // Waiting for a host's turn is no time of the page.
  let leftMs = options.msMax ?? PAGE_MS;
  let at = url;
  let isExempt = true;
  if (URL.parse(url) === null) {
    throw problem('TARGET_REJECTED', { param: options.param ?? 'url', message: 'The URL cannot be read.' });
  }
  try {
    for (let redirects = 0; ; redirects += 1) {
      await options.before?.(at);
      const begunMs = performance.now();
      const reply = await ask(core, at, options, leftMs);
      isExempt &&= reply.isExempt;
      const next = redirectOf(reply.status, reply.headers.location, at);
      if (next === null) return { ...(await receiveBody(reply, options)), isExempt };
      reply.body.destroy();
      if (redirects === REDIRECTS_MAX)
        throw targetFailed('protocol', `The page redirects more than ${REDIRECTS_MAX} times.`);
      leftMs = Math.max(1, leftMs - (performance.now() - begunMs));
      at = next;
    }
  } catch (error) {
    const { param = 'url', signal } = options;
    if (error instanceof Problem && error.code === 'TARGET_REJECTED') throw targetRejected(error, param, at === url);
    if (error instanceof Problem || signal.aborted) throw error;
    const { code } = error as { code?: unknown };
    if (code === 'timeout') throw targetFailed(code, LATE, error);
    throw targetFailed(typeof code === 'string' ? code : 'reset', 'The answer broke off.', error);
  }
}

const LATE = `The page took longer than ${PAGE_MS / 1_000} s.`;

async function ask(core: Pick<Services, 'outbound'>, url: string, options: GetOptions, totalMs: number) {
  const { userAgent, accept = '*/*', headers, isPublicOnly = false, signal } = options;
  const reply = await core.outbound.send({
    url,
    method: 'GET',
    isOfWeb: true,
    isPublicOnly,
    signal,
    headers: { ...headers, 'user-agent': userAgent, 'accept-encoding': 'gzip, deflate', accept },
    // The reader stops at its own bound, and uses what came before.
    limits: { totalMs, firstByteMs: FIRST_BYTE_MS, idleMs: IDLE_MS, answerBytesMax: Number.MAX_SAFE_INTEGER },
  });
  if (reply.kind === 'answered') return reply;
  signal.throwIfAborted();
  if (reply.code === 'refused') throw problem('TARGET_REJECTED', { message: reply.message });
  throw targetFailed(reply.code, `The page could not be fetched: ${reply.message}`);
}

/** Where an answer leads; null when it is the page itself. */
function redirectOf(status: number, location: string | undefined, from: string): string | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const next = URL.parse(location, from);
  if (next === null) throw targetFailed('protocol', 'The redirect of the page cannot be read.');
  // A fragment is the reader's own matter.
  next.hash = '';
  return next.href;
}

type Answered = Awaited<ReturnType<typeof ask>>;

async function receiveBody(
  { url, status, headers, body }: Answered,
  { bytesMax, hold }: GetOptions,
): Promise<Omit<Got, 'isExempt'>> {
  const named = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const encoding = ENCODINGS[named] ?? null;
  if (encoding === null && named !== 'identity' && named !== '') {
    body.destroy();
    throw targetFailed('protocol', 'The page is compressed in a way that was not asked for.');
  }
  const sent = cutBody(body, bytesMax);
  const pieces: Buffer[] = [];
  let bytes = 0;
  let truncated = false;
  try {
    for await (const piece of encoding === null ? sent : inflateBody(sent, encoding, Number.MAX_SAFE_INTEGER)) {
      const kept = piece.subarray(0, bytesMax - bytes);
      hold?.(kept.length);
      pieces.push(kept);
      bytes += kept.length;
      truncated = kept.length < piece.length;
      if (truncated) break;
    }
  } catch (error) {
    // What breaks off where it was cut here is the beginning of a page; what does so by itself is no page.
    const isBroken = error instanceof Problem && error.code === 'INVALID_REQUEST';
    if (isBroken && !sent.wasCut()) throw targetFailed('protocol', `The page is not valid ${named}.`, error);
    if (!isBroken) throw error;
  } finally {
    body.destroy();
  }
  const isCut = truncated || sent.wasCut();
  const contentType = headers['content-type'] ?? null;
  return { url, status, contentType, headers, bytes: Buffer.concat(pieces), truncated: isCut };
}

/** The first bytes of a body. */
function cutBody(body: Readable, bytesMax: number): AsyncIterable<Buffer> & { wasCut(): boolean } {
  let isCut = false;
  async function* pieces(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      const kept = piece.subarray(0, bytesMax - bytes);
      bytes += kept.length;
      yield kept;
      isCut = kept.length < piece.length;
      if (isCut) return;
    }
  }
  const source = pieces();
  return { [Symbol.asyncIterator]: () => source, wasCut: () => isCut };
}

function targetFailed(code: string, message: string, cause?: unknown): Problem {
  return problem('TARGET_FAILED', { detail: code, message, cause });
}

function targetRejected({ message }: Problem, param: string, isOwn: boolean): Problem {
  return problem('TARGET_REJECTED', { param, message: isOwn ? message : `The page redirects: ${message}` });
}
