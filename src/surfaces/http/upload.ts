// Minimum rate of uploads. It is checked once a second, so a body that arrives at once costs nothing.
import type { IncomingMessage } from 'node:http';
import type { Admission } from '../../core/admission.ts';

export interface Upload {
  readonly request: IncomingMessage;
  readonly sinceMs: number;
  /** Of the connection, then. */
  readonly bytesRead: number;
  readonly stalled: boolean;
}

/** What is known of the upload now; null: there is none, or nobody reads it yet. */
export function stalls(
  known: Upload | null,
  request: IncomingMessage,
  isStream: boolean,
  { uploadGraceMs, uploadBytesPerSecondMin }: Admission['connection'],
  nowMs: number,
): Upload | null {
  // A stream is waited for when all of it that is here has been taken.
  const isAwaited = request.readableFlowing === true || (isStream && request.readableLength === 0);
  if (request.complete || !isAwaited) return null;
  const { bytesRead } = request.socket;
  if (known === null || known.request !== request) return { request, sinceMs: nowMs, bytesRead, stalled: false };
  const tookMs = nowMs - known.sinceMs;
  if (tookMs < uploadGraceMs) return known;
  const stalled = (bytesRead - known.bytesRead) * 1_000 < uploadBytesPerSecondMin * tookMs;
  return { request, sinceMs: nowMs, bytesRead, stalled };
}
