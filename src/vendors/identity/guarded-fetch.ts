// openid-client's fetch through the guarded outbound client: no redirects, bounded time and bytes.
import type { CustomFetch } from 'openid-client';
import type { HttpMethod, OutboundClient } from '../http/port.ts';
import { IdentityError } from './port.ts';

const CONNECT_MS = 5_000;
/** All of one request. */
export const REQUEST_MS = 10_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** All that openid-client reads of them. */
const HEADERS_READ = ['content-type', 'www-authenticate', 'retry-after'] as const;

/** @param written origins that the operator wrote: they may be private. Where they lead to must be public. */
export function guardedFetch(outbound: Pick<OutboundClient, 'send'>, written: readonly string[]): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const { origin } = new URL(url);
    const reply = await outbound.send({
      url,
      method: method as HttpMethod,
      headers,
      body: body === undefined || body === null ? null : String(body),
      operator: written.includes(origin) ? { origin } : undefined,
      limits: {
        connectMs: CONNECT_MS,
        firstByteMs: REQUEST_MS,
        idleMs: REQUEST_MS,
        totalMs: REQUEST_MS,
        answerBytesMax: ANSWER_BYTES_MAX,
      },
      signal: signal ?? AbortSignal.timeout(REQUEST_MS),
    });
    if (reply.kind === 'failed') throw new IdentityError('unreachable', `${origin}: ${reply.message}`);
    if (reply.status >= 500) {
      reply.body.destroy();
      throw new IdentityError('unreachable', `${origin} answered ${reply.status}`);
    }
    const sent = HEADERS_READ.flatMap((name) =>
      reply.headers[name] === undefined ? [] : [[name, reply.headers[name]]],
    );
    const bytes = await allOf(reply.body, origin);
    return new Response(bytes.length === 0 ? null : bytes, { status: reply.status, headers: Object.fromEntries(sent) });
  };
}

async function allOf(body: AsyncIterable<Buffer>, origin: string): Promise<Buffer<ArrayBuffer>> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (cause) {
    throw new IdentityError('unreachable', `${origin} did not end its answer`, cause);
  }
}
