// Signed calls of server libraries (Pusher's HTTP API). The path names the app, whose secret signs. Each is a call of a capability.

import type { Credential } from '../../../../core/credentials/credential.ts';
import { invalidKey } from '../../../../core/keys/api-key.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../../kit/raw-route.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { type Problem, problem } from '../../../../problems/problem.ts';
import { appIdOf, appSecretCredential } from '../../app/credentials.ts';
import type { RealtimeState } from '../../state.ts';
import { isBodyOf, isInTime, isSignedCall } from '../signatures.ts';

export interface SignedCall {
  readonly ctx: CallContext;
  readonly request: RawRequest;
  readonly state: RealtimeState;
}

/** What is answered, as JSON, and what it costs. */
export interface SignedAnswer {
  readonly data: object;
  readonly costNanos?: bigint;
}

interface SignedRoute {
  readonly method: 'GET' | 'POST';
  /** Behind /apps/{app}. */
  readonly path: string;
  readonly capability: string;
  readonly bodyBytesMax?: number;
  answer(call: SignedCall): Promise<SignedAnswer>;
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };

export function signedRoute(route: SignedRoute): RawRoute<RealtimeState> {
  return {
    name: 'realtime.pusher_http',
    methods: [route.method],
    path: `/apps/{app}${route.path}`,
    capability: route.capability,
    bodyBytesMax: route.bodyBytesMax ?? 1_024,
    credentialOf,
    async answer(request, state): Promise<RawAnswer> {
      const ctx = request.ctx ?? (await request.admit(null));
      if (!isBodyOf(request.query, request.body)) throw invalidKey('signature');
      if (appIdOf(ctx.accountId) !== request.params.app)
        throw problem('NOT_FOUND', { message: 'The key is not one of this app.', param: 'app_id' });
      const { data, costNanos } = await route.answer({ ctx, request, state });
      const cost = costNanos === undefined ? {} : { costNanos };
      return { status: 200, headers: JSON_TYPE, body: JSON.stringify(data), ...cost };
    },
    refuse: refusal,
  };
}

function credentialOf(head: RawHead): Credential | null {
  const { method, url, query } = head;
  const key = query.get('auth_key');
  if (key === null) return null;
  const path = url.split('?', 1)[0] as string;
  const { find } = appSecretCredential(key, (secret) => isSignedCall(secret, { method, path, query }));
  return {
    async find(core) {
      const found = await find(core);
      return typeof found !== 'string' && !isInTime(query) ? 'clock' : found;
    },
  };
}

/** As Pusher has it: a sentence. Libraries show it. */
function refusal(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { httpStatus: status, message, code, retryAfterMs } = failure;
  const wait: Record<string, string> =
    retryAfterMs == null ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) };
  return { status, headers: { ...TEXT_TYPE, ...wait }, body: `${message} (${code}, ${requestId})\n` };
}
