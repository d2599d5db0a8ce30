import Type, { type Static } from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { requireResultPlace } from '../../../files/result.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, textOrNull, whole } from '../../../kit/fields.ts';
import { resultWishFields } from '../../../kit/file-fields.ts';
import { JsonText, toJson } from '../../../lib/json-text.ts';
import { STORE_PRICES } from '../../../objects/limits.ts';
import { invalidField } from '../../../problems/problem.ts';
import { bytesOf } from '../calls/body.ts';
import { answerOf, collect } from '../calls/collect.ts';
import { isPassedOn, readHeaders } from '../calls/outgoing.ts';
import { openCall, outcomeUnknown, type RelayedCall } from '../calls/relay.ts';
import { findConnection, targetOf } from '../calls/url.ts';
import { CALL, CALL_BYTES_MAX, TIMEOUT_MS } from '../limits.ts';
import { connectionField } from '../schemas.ts';
import type { VaultState } from '../state.ts';
import { siteFirst } from './examples.ts';

const callInput = Type.Object({
  connection: connectionField,
  method: Type.Optional(
    Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], {
      default: 'GET',
      description: 'Method.',
    }),
  ),
  url: Type.String({
    minLength: 1,
    maxLength: 8_192,
    description: 'An https URL, or a path at the first host: /user/repos.',
  }),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 4_096 }), {
      maxProperties: 50,
      writeOnly: true,
      description: 'Those that speak for the caller, such as authorization and cookie, are left out.',
    }),
  ),
  body: Type.Optional(Type.String({ description: 'As text; JSON unless headers say otherwise.' })),
  body_base64: Type.Optional(Type.String({ minLength: 1, description: 'The same as base64.' })),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: TIMEOUT_MS.min,
      maximum: TIMEOUT_MS.max,
      default: TIMEOUT_MS.usual,
      description: 'For the whole answer.',
    }),
  ),
  ...resultWishFields,
  inline: Type.Optional(
    Type.Boolean({ default: true, description: 'False: answer a link, as of what is longer than 1 MiB.' }),
  ),
});
type Input = Static<typeof callInput>;

export const call = defineCapability<VaultState>()({
  method: 'POST',
  path: '/v1/vault/call',
  summary: 'Makes an HTTP call with a credential that stays here.',
  description:
    'Answers what the target says, whatever its status; redirects are the answer. The secret is taken out of what comes back. What was not sent ' +
    'costs nothing; what was sent and not answered is charged, and not repeated. A repeat under the idempotency key sends nothing.',
  keywords: ['call api with stored token', 'authenticated request', 'call github', 'call stripe'],
  price: CALL,
  input: callInput,
  output: Type.Object({
    call_id: Type.String({ description: 'Its id in vault.calls.' }),
    status: Type.Integer({ description: 'Of the target.' }),
    headers: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
      description: 'Of the target, names in lower case.',
    }),
    body: textOrNull('The answer as text; null where it is none.'),
    body_base64: textOrNull('The answer as base64, where it is no text.'),
    url: textOrNull('A link that needs no key: above 1 MiB, or with inline false.'),
    expires_at: instantOrNull('When the link ends: after 1 h.'),
    bucket: textOrNull('With store.'),
    key: textOrNull('With store.'),
    bytes: whole('Of the answer.'),
    is_cut: Type.Boolean({ description: 'Whether there was more than 16 MiB.' }),
    latency_ms: whole('Until the end of the answer.'),
  }),
  bodyBytesMax: CALL_BYTES_MAX,
  asksFirst: true,
  bulk: { source: import.meta.url, reduce: withBytes },
  laterPrices: STORE_PRICES,
  errors: [
    'RULE_REFUSED',
    'CONNECTION_BROKEN',
    'NOT_FOUND',
    'TARGET_REJECTED',
    'TARGET_FAILED',
    'VENDOR_TIMEOUT',
    'OVERLOADED',
  ],
  limits: { body: '4 MiB; more by path.', answer: '16 MiB; more by path.' },
  examples: [
    {
      title: 'One',
      before: [siteFirst],
      input: { connection: 'docs', url: '/keys' },
      expect: { status: 200, is_cut: false },
    },
  ],
  async run({ ctx, input, state }) {
    const {
      connection,
      method = 'GET',
      url,
      headers = {},
      timeout_ms: totalMs = TIMEOUT_MS.usual,
      inline,
      store,
    } = input;
    // A replay comes before every other check.
    const earlier = await findReplay(ctx);
    if (earlier !== null) return replay(earlier.data.text);
    ctx.idle();
    const read = readHeaders(headers);
    if ('wrong' in read)
      throw invalidField('headers', 'pattern', 'headers: a name or value cannot be sent, or stands there twice.');
    // It was decoded where the body is long.
    const content = (input as { readonly content?: Uint8Array | null }).content ?? bytesOf(input);
    if (content !== null && (method === 'GET' || method === 'HEAD'))
      throw invalidField('body', 'not_allowed', `${method} has no body.`);
    const found = await findConnection(ctx, connection);
    const target = targetOf(found.connection, url);
    await requireResultPlace(ctx, { store });
    const left = Object.entries(read).filter(([name, value]) => !isPassedOn(name, value, ''));
    if (left.length > 0)
      ctx.warnings.push(`headers: ${left.map(([name]) => name.slice(0, 64)).join(', ')} were left out.`);
    const typed = content === null ? read : { 'content-type': 'application/json', ...read };
    const bytes = content === null ? null : Buffer.from(content.buffer, content.byteOffset, content.length);
    const limits = { firstByteMs: totalMs, idleMs: totalMs, totalMs, encodings: 'gzip, br' };
    const opened = await openCall(ctx, state, {
      found,
      sent: { method, target, headers: typed, body: () => ({ content: bytes }) },
      limits,
    });
    if (opened.kind === 'replayed') return replay(opened.text);
    return {
      data: await answer(opened.call),
      costNanos: opened.call.costNanos,
      balanceNanos: opened.call.balanceNanos,
    };

    async function answer(relayed: RelayedCall): Promise<JsonText> {
      const came = await relayed.send();
      try {
        const collected = await collect(ctx, came);
        const text = toJson(await answerOf(ctx, relayed, came, collected, { inline, store }));
        await relayed.end(null, text);
        if (relayed.foundSecret)
          ctx.warnings.push('The target answered with the secret of the connection: it was taken out.');
        return new JsonText(text);
      } catch (error) {
        await relayed.end('ANSWER_LOST');
        throw error;
      }
    }
  },
});

function replay(text: string) {
  if (text.includes('"is_lost":true') && !text.includes('"call_id"')) throw outcomeUnknown();
  return { data: new JsonText(text), costNanos: 0n, replayed: true };
}

function withBytes(input: Input) {
  const { body: _text, body_base64: _base64, ...rest } = input;
  const content = bytesOf(input);
  return { value: { ...rest, content }, transfer: content === null ? [] : [content.buffer] };
}
