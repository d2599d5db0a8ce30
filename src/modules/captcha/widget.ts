// Where ALTCHA's widget, in any page, loads its challenge: the bare one. The key in its address can be read by everybody, so it must be one for
// challenges alone; no cookie is looked at.
import type { Core } from '../../core/context.ts';
import { secretCredential } from '../../core/credentials/credential.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import { scopesWithin } from '../../core/scopes.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { telemetrySentence, telemetryStatus } from '../../kit/telemetry.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import type { IssuedChallenge } from './challenge.ts';
import { CHALLENGE } from './limits.ts';

export const KEY_LINE = `qm keys create --account ACCOUNT_ID --name pages --scopes ${CHALLENGE}`;

const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
const json = { ...open, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const preflight: RawAnswer = {
  status: 204,
  headers: {
    ...open,
    'access-control-allow-methods': 'GET, OPTIONS',
    'access-control-allow-headers': 'Authorization, Content-Type, X-Requested-With, traceparent',
    'access-control-max-age': '86400',
  },
  body: '',
};

export const widgetRoute: RawRoute<Core> = {
  ...{ name: 'captcha.altcha', methods: ['GET', 'OPTIONS'], path: '/v1/captcha/altcha', capability: null },
  bodyBytesMax: 1_024,
  credentialOf: (head) => (head.method === 'OPTIONS' ? null : credentialOf(head)),
  answer: (request, core) => (request.method === 'OPTIONS' ? Promise.resolve(preflight) : give(request, core)),
  refuse,
};

function credentialOf(head: RawHead) {
  const key = head.query.get('key');
  return key ? secretCredential(key) : bearer(head);
}

async function give(request: RawRequest, core: Core): Promise<RawAnswer> {
  const { scopes } = request.principal ?? (await request.identify(null));
  if (!scopesWithin(core.knownScopes, scopes, [CHALLENGE])) throw problem('INSUFFICIENT_SCOPE');
  const { answer, problem: failure } = await request.invoke(CHALLENGE, wishOf(request));
  if (answer === null) throw failure;
  return { status: 200, headers: json, body: JSON.stringify((answer.data as IssuedChallenge).challenge) };
}

/** As the capability takes it, which says what is wrong with it. */
function wishOf({ query, headers }: RawHead): Readonly<Record<string, unknown>> {
  const ttl = query.get('ttl_seconds');
  const sent = { action: query.get('action'), difficulty: query.get('difficulty'), hostname: hostOf(headers.origin) };
  const given = Object.entries(sent).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), ...(ttl === null ? {} : { ttl_seconds: Number(ttl) }) };
}

/** Null of what browsers do not send. */
function hostOf(origin: string | undefined): string | null {
  const { hostname } = URL.parse(origin ?? '') ?? {};
  return hostname || null;
}

function refuse(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { status, headers } = telemetryStatus(failure);
  const error =
    failure.code === 'INSUFFICIENT_SCOPE'
      ? `The key of a web page can be read by everybody: it must have the scope ${CHALLENGE} and no other. Make one with: ${KEY_LINE}`
      : telemetrySentence(failure);
  const body = { error, code: failure.code, param: failure.param, request_id: requestId };
  return { status, headers: { ...json, ...headers }, body: JSON.stringify(body) };
}
