// Errors of attempts that got no answer: one error type inside the client, and conversions of other errors to it.
import type { OutboundFailure } from './port.ts';

export class OutboundError extends Error {
  readonly code: OutboundFailure;
  /** The request was not yet on the wire: another address may be tried. */
  readonly beforeSending: boolean;

  /** @param message one sentence for the owner of the URL; no address in it. */
  constructor(code: OutboundFailure, message: string, options: { beforeSending?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OutboundError';
    this.code = code;
    this.beforeSending = options.beforeSending ?? false;
  }
}

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it reset the connection',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'it did not answer in time',
};

/** No TCP connection. */
export function connectFailed(cause: unknown): OutboundError {
  const reason = SYSTEM_REASONS[codeOf(cause)] ?? 'the connection failed';
  return new OutboundError('connect', `The receiver cannot be reached: ${reason}.`, { beforeSending: true, cause });
}

export function connectTimedOut(): OutboundError {
  return new OutboundError('timeout', 'The receiver did not accept a connection in time.', { beforeSending: true });
}

/** A TCP connection, but no TLS session with a certificate that is trusted and valid for the host. */
export function tlsFailed(cause: unknown): OutboundError {
  const code = codeOf(cause);
  const reason = code === '' ? '' : ` (${code})`;
  return new OutboundError('tls', `The receiver's TLS handshake or certificate failed${reason}.`, {
    beforeSending: true,
    cause,
  });
}

/** What went wrong after the request began: undici's own errors and the socket's. */
export function exchangeFailed(cause: unknown): OutboundError {
  if (cause instanceof OutboundError) return cause;
  const code = codeOf(cause);
  if (isGarbled(cause) || GARBLED_CODES.has(code)) {
    return new OutboundError('protocol', "The receiver's answer is not acceptable HTTP/1.1.", { cause });
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    return new OutboundError('protocol', 'The request cannot be sent: its path or a header is not valid.', { cause });
  }
  return new OutboundError('reset', 'The receiver closed the connection without an answer.', { cause });
}

const GARBLED_CODES = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

// undici's parser error carries no code that holds, and what its client refuses ("bad response": an unasked 100; "bad upgrade": 101)
// is a plain socket error.
function isGarbled(error: unknown): boolean {
  return error instanceof Error && (error.name === 'HTTPParserError' || error.message.startsWith('bad '));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
