// The path /v1/vault/to/{connection}/…: SDKs of other services with this base address and a key of ours in place of theirs. Bodies flow both ways.

import { type Credential, secretCredential } from '../../../core/credentials/credential.ts';
import { basic, bearer } from '../../../core/credentials/http-schemes.ts';
import { secretIn } from '../../../core/keys/api-key.ts';
import type { AskedInput, RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';
import type { SentBody } from '../calls/outgoing.ts';
import { findConnection, targetAt } from '../calls/url.ts';
import { BY_PATH, CALL, STREAM_BYTES_MAX } from '../limits.ts';
import type { VaultState } from '../state.ts';
import { AskedBody } from './asked-body.ts';
import { relayRequest } from './relay-request.ts';
import { shownHeaders } from './shown-headers.ts';

export const pathRoute: RawRoute<VaultState> = {
  name: 'vault.path',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  path: `${BY_PATH}{connection}/{path*}`,
  capability: CALL,
  stream: 'both',
  bodyBytesMax: STREAM_BYTES_MAX,
  encodings: 'kept',
  credentialOf,
  asked: askedOf,
  answer,
};

/** Where clients put the key of the service that they speak to: Authorization, a header of its own, or the query. */
export function credentialOf(head: RawHead): Credential | null {
  const { headers, query } = head;
  const { authorization = '' } = headers;
  if (/^Basic /i.test(authorization)) return basicKey(head);
  const own = bearer(head);
  if (own !== null) return own;
  const texts = [...Object.values(headers).map(String), ...query.values()];
  const found = texts.map(secretIn).find((secret) => secret !== null);
  return found === undefined || found === null ? null : secretCredential(found);
}

/** Some have it as the user, some as the password. */
function basicKey(head: RawHead): Credential | null {
  const text = Buffer.from((head.headers.authorization ?? '').slice('Basic '.length, 1_024), 'base64').toString('utf8');
  const secret = secretIn(text);
  return secret === null ? basic('password', head) : secretCredential(secret);
}

const bodies = new WeakMap<RawRequest, AskedBody>();

/** The same names as those of vault.call; the body is read for who must decide about it, and for nobody else. */
function askedOf(request: RawRequest): AskedInput {
  const body = new AskedBody(request);
  bodies.set(request, body);
  const { connection = '' } = request.params;
  return { input: { connection, method: request.method, url: pathOf(request) }, content: () => body.read() };
}

/** As it was sent, with its query. */
function pathOf({ routed }: RawHead): string {
  const rest = routed.slice(BY_PATH.length);
  return rest.slice(rest.indexOf('/'));
}

async function answer(request: RawRequest, state: VaultState): Promise<RawAnswer> {
  const { ctx, params, method } = request;
  if (ctx === null) throw problem('UNAUTHORIZED');
  const { connection: name = '' } = params;
  const found = await findConnection(ctx, name);
  const target = targetAt(found.connection, pathOf(request));
  const relay = await relayRequest(ctx, state, {
    found,
    method,
    target,
    headers: request.headers,
    body: () => bodyOf(request),
  });
  const at = { target, connection: name, baseUrl: state.core.baseUrl, ownHost: request.headers.host };
  return { ...relay, headers: shownHeaders(relay.headers, at) };
}

function bodyOf(request: RawRequest): SentBody {
  const asked = bodies.get(request)?.bytes ?? null;
  if (asked !== null) return { content: asked };
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return { content: null };
  return { content: request.stream, bytes: length === undefined ? undefined : Number(length) };
}
