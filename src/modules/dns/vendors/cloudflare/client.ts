// Client of Cloudflare's API v4 for zones (https://developers.cloudflare.com/api/resources/dns): pages of a list, and one batch. Answers are
// `{success, errors[{code, message}], result, result_info}`, and read as untrusted input.
import type { Readable } from 'node:stream';
import { retryAfterMs } from '../../../../lib/retry-after.ts';
import { at, fieldsOf, numberAt, parseJson, textAt } from '../../../../vendors/call/answer.ts';
import type { ModelRow } from '../../../../vendors/file/port.ts';
import type { HttpMethod, OutboundClient } from '../../../../vendors/http/port.ts';
import { VendorFault } from '../port.ts';

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const FIRST_BYTE_MS = 15_000;
const TOTAL_MS = 30_000;
/** An account has 1,200 requests in five minutes; what is beyond is refused for the rest of them. */
const BUSY_MS = 300_000;
const SAID_CHARACTERS_MAX = 300;

export interface Page {
  readonly result: readonly unknown[];
  readonly pages: number;
}

export class CloudflareClient {
  readonly #outbound: OutboundClient;
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(outbound: OutboundClient, { vendor }: ModelRow) {
    this.#outbound = outbound;
    this.#baseUrl = vendor.baseUrl;
    this.#key = vendor.secrets?.api_key?.reveal().trim() ?? '';
  }

  /** Throws VendorFault. */
  async page(path: string, signal: AbortSignal): Promise<Page> {
    const body = await this.#send('GET', path, null, signal);
    const result = at(body, 'result');
    if (!Array.isArray(result)) throw new VendorFault('VENDOR_ERROR', 'Cloudflare answered no list.');
    return { result, pages: numberAt(body, 'result_info.total_pages') ?? 1 };
  }

  /** Throws VendorFault. */
  async post(path: string, sent: object, signal: AbortSignal): Promise<void> {
    await this.#send('POST', path, JSON.stringify(sent), signal);
  }

  async #send(method: HttpMethod, path: string, sent: string | null, signal: AbortSignal): Promise<unknown> {
    const reply = await this.#outbound.send({
      method,
      url: `${this.#baseUrl}${path}`,
      signal,
      body: sent,
      credentials: { authorization: `Bearer ${this.#key}` },
      headers: { accept: 'application/json', ...(sent === null ? {} : { 'content-type': 'application/json' }) },
      operator: { origin: new URL(this.#baseUrl).origin },
      limits: {
        firstByteMs: FIRST_BYTE_MS,
        idleMs: FIRST_BYTE_MS,
        totalMs: TOTAL_MS,
        answerBytesMax: ANSWER_BYTES_MAX,
      },
    });
    if (reply.kind === 'failed') {
      const reason = reply.code === 'timeout' || signal.aborted ? 'VENDOR_TIMEOUT' : 'VENDOR_DOWN';
      throw new VendorFault(reason, 'Cloudflare cannot be reached, or did not answer in time.');
    }
    const body = parseJson(await bytesOf(reply.body));
    if (reply.status < 300 && at(body, 'success') === true) return body;
    throw faultOf(reply.status, body, reply.headers['retry-after']);
  }
}

function faultOf(status: number, body: unknown, wait: string | undefined): VendorFault {
  const errors = at(body, 'errors');
  const [first] = Array.isArray(errors) ? errors : [];
  const code = numberAt(first, 'code');
  const said = plain(textAt(first, 'message', 10_000) ?? '');
  if (status === 429) {
    const ms = retryAfterMs(wait ?? null, Date.now()) ?? BUSY_MS;
    return new VendorFault('RATE_LIMIT_VENDOR', 'Cloudflare takes no more requests for now.', { retryAfterMs: ms });
  }
  // 10000: authentication error. 9109: invalid access token. 6003: invalid request headers, said of keys that are none.
  if (status === 401 || status === 403 || [10_000, 9_109, 6_003].includes(code ?? 0)) {
    return new VendorFault('VENDOR_AUTH_ERROR', "Cloudflare refuses the operator's key.");
  }
  if (status >= 500) return new VendorFault('VENDOR_DOWN', 'Cloudflare fails.');
  // 81044: the record does not exist. 81057, 81058: it exists already. Somebody else was there in between.
  if ([81_044, 81_057, 81_058].includes(code ?? 0)) {
    return new VendorFault('VENDOR_DOWN', 'Somebody else changes the same names: send the call again.', {
      isRace: true,
    });
  }
  const isTold = fieldsOf(first) !== null && status < 500;
  return isTold
    ? new VendorFault('VALIDATION_FAILED', `Cloudflare refuses it: ${said === '' ? `error ${code}` : said}`)
    : new VendorFault('VENDOR_ERROR', 'Cloudflare answered something that cannot be read.');
}

function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc} ]+/gu, ' ')
    .slice(0, SAID_CHARACTERS_MAX);
}

/** What does not come to its end says nothing. */
async function bytesOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch {
    return Buffer.alloc(0);
  }
  return Buffer.concat(chunks);
}
