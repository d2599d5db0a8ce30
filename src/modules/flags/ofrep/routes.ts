// The OpenFeature Remote Evaluation Protocol (OFREP 0.3): its providers need the address `{base_url}/v1/flags` and a key. A page's key can do nothing else.
import { createHash } from 'node:crypto';
import type { CallContext } from '../../../core/context.ts';
import { apiKeyHeader, bearer } from '../../../core/credentials/http-schemes.ts';
import { scopesWithin } from '../../../core/scopes.ts';
import { jsonFields } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { invalidField } from '../../../problems/problem.ts';
import { EVALUATE } from '../capabilities/evaluate.ts';
import { CONTEXT } from '../limits.ts';
import { problem } from '../problems.ts';
import { type Context, checkContext } from '../rules/context.ts';
import { type Asked, evaluateFlags } from '../serving/evaluate.ts';
import type { FlagsState } from '../state.ts';
import { evaluationText, json, open, preflight, refusal, statusOf } from './answers.ts';
import { streamRoute, streamUrl } from './stream.ts';

const ROOT = '/v1/flags/ofrep/v1/evaluate/flags';
/** Of a body beside its context. */
const BESIDE_BYTES = 1_024;

export const ofrepRoutes: readonly RawRoute<FlagsState>[] = [route(`${ROOT}/{key}`), route(ROOT), streamRoute];

function route(path: string): RawRoute<FlagsState> {
  return {
    ...{ name: 'flags.ofrep', methods: ['POST', 'OPTIONS'], path, capability: EVALUATE, refuse: refusal },
    bodyBytesMax: CONTEXT.bytesMax + BESIDE_BYTES,
    credentialOf,
    async answer(request, state) {
      if (request.method === 'OPTIONS') return preflight;
      const ctx = request.ctx as CallContext;
      // Everybody can read the key of a page.
      const isOfPage = request.headers.origin !== undefined;
      if (isOfPage && !scopesWithin(ctx.core.knownScopes, ctx.principal.scopes, [EVALUATE]))
        throw problem('INSUFFICIENT_SCOPE');
      const context = contextOf(request.body);
      const { key } = request.params;
      return key === undefined ? all(request, ctx, state, context) : one(ctx, state, { keys: [key], context });
    },
  };
}

function credentialOf(head: RawHead) {
  if (head.method === 'OPTIONS') return null;
  const credential = bearer(head) ?? apiKeyHeader(head);
  if (credential === null) throw problem('UNAUTHORIZED');
  return credential;
}

async function one(ctx: CallContext, state: FlagsState, asked: Asked): Promise<RawAnswer> {
  let status = 200;
  const [text = ''] = await evaluateFlags(ctx, state, asked, (evaluation) => {
    status = statusOf(evaluation);
    return evaluationText(evaluation);
  });
  return json(status, text);
}

/** Flags that are off are told too, without a value. */
async function all(request: RawRequest, ctx: CallContext, state: FlagsState, context: Context): Promise<RawAnswer> {
  const told = /^"?(\d{1,15})"?$/.exec(request.query.get('flagConfigEtag') ?? '')?.[1];
  if (told !== undefined) await state.served.atLeast(ctx.accountId, BigInt(told));
  const texts = await evaluateFlags(ctx, state, { keys: null, context }, evaluationText);
  const body = `{"flags":[${texts.join(',')}]`;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { ...open, etag }, body: '' };
  const streams = [{ type: 'sse', url: streamUrl(state, ctx) }];
  return json(200, `${body},"eventStreams":${JSON.stringify(streams)}}`, { etag });
}

function contextOf(body: Buffer): Context {
  const { context = {} } = body.length === 0 ? {} : jsonFields(body);
  if (typeof context !== 'object' || context === null || Array.isArray(context))
    throw invalidField('context', 'type', 'The context must be a JSON object.');
  checkContext(context as Context, body.length - BESIDE_BYTES);
  return context as Context;
}
