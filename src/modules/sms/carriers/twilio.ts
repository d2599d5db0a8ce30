// Carrier over Twilio's REST API. Receipts and inbound messages arrive by HTTP, signed with the account's token
// (https://www.twilio.com/docs/usage/security).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { problem } from '../../../problems/problem.ts';
import { fieldsOf, numberAt, parseJson, textAt } from '../../../vendors/call/answer.ts';
import { judge, type VendorError, type VendorReply } from '../../../vendors/call/judge.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { SUBMIT_MS } from '../limits.ts';
import type { Carrier, CarrierListener, OutboundSms, Receipt, SubmitOutcome } from './port.ts';

/** The token of the address for messages of people; every other one names a message. */
const INBOUND = 'inbound';
const ANSWER_BYTES_MAX = 64 * 1024;
const ENDS: Readonly<Record<string, Receipt['status']>> = {
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
};
const EMPTY: RawAnswer = { status: 200, headers: { 'content-type': 'text/xml' }, body: '<Response></Response>' };

export class TwilioCarrier implements Carrier {
  readonly #core: Services;
  readonly #row: ModelRow;
  readonly #sid: string;
  readonly #token: string;
  readonly #tokens: SignedTokens;

  constructor(core: Services, row: ModelRow) {
    this.#core = core;
    this.#row = row;
    this.#sid = row.options.account_sid as string;
    this.#token = row.vendor.secrets?.auth_token?.reveal() ?? '';
    this.#tokens = new SignedTokens(core.secrets, 'sms-callback');
  }

  async submit(message: OutboundSms, signal: AbortSignal): Promise<SubmitOutcome> {
    const reply = await this.#post(message, signal);
    const sid = reply.kind === 'answered' && reply.status < 300 ? textAt(reply.body, 'sid', 64) : null;
    if (sid !== null) return { kind: 'accepted', references: [sid], captured: false };
    const verdict = judge(reply, errorOf(reply), { awaits: 'job', key: this.#token });
    return verdict.kind === 'refused' ? { ...verdict, code: codeOf(reply) } : verdict;
  }

  async readCallback(request: RawRequest, listener: CarrierListener): Promise<RawAnswer> {
    const form = new URLSearchParams(request.body.toString('utf8'));
    this.#requireSigned(request, form);
    const { token = '' } = request.params;
    if (token === INBOUND) {
      const [from, to] = [form.get('From') ?? '', form.get('To') ?? ''];
      await listener.inbound(this.#row.vendor.id, {
        from,
        to,
        text: form.get('Body') ?? '',
        reference: form.get('MessageSid'),
      });
      return EMPTY;
    }
    const [accountId, smsId] = this.#tokens.read(this.#row.vendor.id, token) ?? [];
    if (typeof accountId !== 'string' || typeof smsId !== 'string') throw problem('NOT_FOUND');
    const status = ENDS[form.get('MessageStatus') ?? ''];
    if (status !== undefined) {
      await listener.receipt(accountId, smsId, {
        status,
        errorCode: status === 'failed' ? form.get('ErrorCode') : null,
      });
    }
    return EMPTY;
  }

  async #post(message: OutboundSms, signal: AbortSignal): Promise<VendorReply> {
    const { baseUrl } = this.#row.vendor;
    const reply = await this.#core.outbound.send({
      method: 'POST',
      url: `${baseUrl}/2010-04-01/Accounts/${this.#sid}/Messages.json`,
      credentials: { authorization: `Basic ${Buffer.from(`${this.#sid}:${this.#token}`).toString('base64')}` },
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: this.#form(message).toString(),
      operator: { origin: baseUrl },
      limits: { firstByteMs: SUBMIT_MS, idleMs: SUBMIT_MS, totalMs: 2 * SUBMIT_MS, answerBytesMax: ANSWER_BYTES_MAX },
      signal,
    });
    if (reply.kind === 'failed') return reply;
    return {
      kind: 'answered',
      status: reply.status,
      retryAfterMs: null,
      body: parseJson(await bytesOf(reply.body)) ?? undefined,
    };
  }

  #form({ to, from, text, accountId, smsId }: OutboundSms): URLSearchParams {
    const form = new URLSearchParams({ To: to, From: from, Body: text });
    const token = this.#tokens.write(this.#row.vendor.id, [accountId, smsId]);
    const { baseUrl } = this.#core;
    // Twilio refuses a message whose address for receipts it cannot reach.
    if (!isLoopback(new URL(baseUrl).hostname) || isLoopback(new URL(this.#row.vendor.baseUrl).hostname))
      form.set('StatusCallback', `${baseUrl}/v1/sms/callback/${this.#row.vendor.id}/${token}`);
    return form;
  }

  /** HMAC-SHA1 of the address and of the fields by name, each with its value. */
  #requireSigned({ headers, url }: RawRequest, form: URLSearchParams): void {
    const fields = [...form].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).flat();
    const signed = `${this.#core.baseUrl}${url}${fields.join('')}`;
    const wanted = createHmac('sha1', this.#token).update(signed).digest();
    const given = Buffer.from(String(headers['x-twilio-signature'] ?? ''), 'base64');
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
    this.#core.log.warn(
      { vendor: this.#row.vendor.id },
      'a callback of a carrier without a valid signature was refused',
    );
    throw problem('NOT_FOUND');
  }
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

function errorOf(reply: VendorReply): VendorError | null {
  if (reply.kind === 'failed' || fieldsOf(reply.body) === null) return null;
  const code = numberAt(reply.body, 'code');
  if (code === null) return null;
  return { said: textAt(reply.body, 'message') ?? '', means: MEANINGS[code] ?? null };
}

/** Of Twilio's codes those that say more than their status. */
const MEANINGS: Readonly<Record<number, VendorError['means']>> = {
  20003: 'auth',
  20429: 'busy',
  14107: 'busy',
  30001: 'busy',
  30002: 'auth',
};

function codeOf(reply: VendorReply): string | null {
  if (reply.kind === 'failed') return null;
  const code = numberAt(reply.body, 'code');
  return code === null ? null : String(code);
}
