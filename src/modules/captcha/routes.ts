// Two addresses without the envelope: the bare challenge for ALTCHA's widget in any page, whose key must be one for challenges alone; and
// verification in the shape that reCAPTCHA, hCaptcha and Turnstile share, whose secret is a key with captcha.verify.
import type { Static } from 'typebox';
import type { Core } from '../../core/context.ts';
import { type Credential, secretCredential } from '../../core/credentials/credential.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import { json, jsonFields } from '../../kit/openai-wire.ts';
import { openToPages, requirePageKey } from '../../kit/page-access.ts';
import { dataOf } from '../../kit/raw-data.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { telemetryCredential, telemetrySentence, telemetryStatus } from '../../kit/telemetry.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { challenge } from './capabilities/challenge.ts';
import { verify } from './capabilities/verify.ts';

const { open, preflight } = openToPages({
  ...{ methods: 'GET', headers: 'Authorization, Content-Type, X-Requested-With, traceparent', exposed: 'Retry-After' },
});

export const widgetRoute: RawRoute<Core> = {
  ...{ name: 'captcha.altcha', methods: ['GET', 'OPTIONS'], path: '/v1/captcha/altcha', capability: null },
  ...{ bodyBytesMax: 1_024, credentialOf: pageCredential, refuse: refusePage },
  answer: async (request, core) => (request.method === 'OPTIONS' ? preflight : bareChallenge(request, core)),
};

function pageCredential(head: RawHead): Credential | null {
  const key = head.method === 'OPTIONS' ? null : head.query.get('key');
  return key ? secretCredential(key) : bearer(head);
}

async function bareChallenge(request: RawRequest, core: Core): Promise<RawAnswer> {
  requirePageKey(core, request.principal ?? (await request.identify(null)), 'pages', challenge.id);
  const { action, difficulty, ttl_seconds: ttl } = Object.fromEntries(request.query);
  const { hostname } = URL.parse(request.headers.origin ?? '') ?? {};
  const ttlSeconds = ttl === undefined ? undefined : Number(ttl);
  const wish = { action, difficulty, ttl_seconds: ttlSeconds, hostname: hostname || undefined };
  const made = await dataOf<Static<typeof challenge.output>>(request.invoke(challenge.id, wish));
  return json(made.challenge, 200, open);
}

function refusePage(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { status, headers } = telemetryStatus(failure);
  const { code, param } = failure;
  const body = { error: telemetrySentence(failure), code, param, request_id: requestId };
  return json(body, status, { ...open, ...headers });
}

/** What those services say of a reason, a field or a code of ours; other failures keep their status. */
const errorCodes: Readonly<Record<string, string | undefined>> = {
  expired: 'timeout-or-duplicate',
  replayed: 'timeout-or-duplicate',
  invalid: 'invalid-input-response',
  action_mismatch: 'action-mismatch',
  response: 'missing-input-response',
  payload: 'invalid-input-response',
  UNAUTHORIZED: 'missing-input-secret',
  INVALID_API_KEY: 'invalid-input-secret',
  INSUFFICIENT_SCOPE: 'invalid-input-secret',
  INVALID_REQUEST: 'bad-request',
  MALFORMED_JSON: 'bad-request',
  VALIDATION_FAILED: 'bad-request',
};

export const siteverifyRoute: RawRoute<Core> = {
  ...{ name: 'captcha.siteverify', methods: ['POST'], path: '/v1/captcha/siteverify', capability: null },
  ...{ bodyBytesMax: 16 * 1_024, credentialOf: telemetryCredential, answer: siteverify, refuse: refuseSite },
};

async function siteverify(request: RawRequest): Promise<RawAnswer> {
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
  const sent = isJson ? jsonFields(request.body) : Object.fromEntries(new URLSearchParams(String(request.body)));
  const { secret, response: payload, action, difficulty } = sent as Readonly<Record<string, string | undefined>>;
  if (request.principal === null) await request.identify(secret ? secretCredential(String(secret)) : null);
  if (!payload) throw problem('VALIDATION_FAILED', { param: 'response', message: 'response is missing.' });
  const expected = { action: action || undefined, difficulty: difficulty || undefined };
  const found = await dataOf<Static<typeof verify.output>>(request.invoke(verify.id, { payload, ...expected }));
  return json({
    ...{ success: found.success, 'error-codes': found.success ? [] : [errorCodes[found.reason]] },
    ...{ challenge_ts: found.challenge_at, ...(found.hostname !== null && { hostname: found.hostname }) },
    ...{ action: found.action ?? '', difficulty: found.difficulty, challenge_id: found.challenge_id },
  });
}

function refuseSite(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { code, param, httpStatus } = failure;
  const known = (code === 'VALIDATION_FAILED' && errorCodes[param ?? '']) || errorCodes[code];
  const body = { code, message: telemetrySentence(failure), request_id: requestId };
  const [status, headers] = known ? [200, {}] : [httpStatus, telemetryStatus(failure).headers];
  return json({ success: false, 'error-codes': [known ?? 'internal-error'], ...body }, status, headers);
}
