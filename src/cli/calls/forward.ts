// Forwards one event to one URL as the webhook deliverer sends it: same headers, body and signature. The target is the caller's own, so any
// address is allowed.
import { signedHeaders } from '../../core/outbound/signature.ts';
import { readText, send, Unanswered } from '../client/http.ts';
import { UsageError } from '../output.ts';

/** As a webhook is given. */
const TOTAL_MS = 15_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

interface ForwardedEvent {
  readonly event_id: string;
  /** As it is delivered to webhooks. */
  readonly text: string;
  /** Of a request that another service sent. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends it once. Answers what came of it, in words; never rejects for what the target does. */
export async function forward(
  url: string,
  { event_id: id, text: body, headers: own = {} }: ForwardedEvent,
  secret: string,
): Promise<string> {
  const signed = signedHeaders({ id, timestampMs: Date.now(), body }, [secret]);
  const headers = { ...signed, ...own, ...signatureIn(signed) };
  const begunMs = performance.now();
  const durationText = () => `${Math.round(performance.now() - begunMs)} ms`;
  try {
    const answer = await send(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TOTAL_MS) });
    await readText(answer, ANSWER_BYTES_MAX);
    return `${id} -> ${answer.statusCode} in ${durationText()}`;
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    return `${id} -> failed after ${durationText()}: ${error.message}`;
  }
}

function signatureIn(signed: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(signed).filter(([name]) => name.startsWith('webhook-')));
}

/** Throws UsageError; the secret is not repeated. */
export function readSecret(text: string): string {
  if (SECRET.test(text)) return text;
  throw new UsageError('--secret must be whsec_ and the base64 of 24 to 64 bytes');
}
