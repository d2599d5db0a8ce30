// Two endpoints without the envelope. One gives the bare challenge for ALTCHA's widget in any page, whose key must be one for challenges alone.
// The other verifies in the shape that reCAPTCHA, hCaptcha and Turnstile share, whose secret is a key with captcha.verify.
import type { Static } from 'typebox';
import { secretCredential } from '../../core/credentials/credential.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import { json, jsonFields } from '../../kit/openai-wire.ts';
import { pageRoute, requirePageKey } from '../../kit/page-access.ts';
import { dataOf } from '../../kit/raw-data.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { telemetryCredential, telemetrySentence, telemetryStatus } from '../../kit/telemetry.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { challenge } from './capabilities/challenge.ts';
import { verify } from './capabilities/verify.ts';

const access = { headers: 'Authorization, Content-Type, X-Requested-With, traceparent', exposed: 'Retry-After' };
export const widgetRoute = pageRoute<Services>(access, {
  name: 'captcha.altcha',
  methods: ['GET'],
  path: '/v1/captcha/altcha',
  capability: null,
  bodyBytesMax: 1_024,
  credentialOf(head) {
    const key = head.query.get('key');
    return key ? secretCredential(key) : bearer(head);
  },
  async answer(request, core) {
    requirePageKey(core, request.principal ?? (await request.identify(null)), 'pages', challenge.id);
    const { action, difficulty, ttl_seconds, expires_seconds: sent = ttl_seconds } = Object.fromEntries(request.query);
    const { hostname } = URL.parse(request.headers.origin ?? '') ?? {};
    const expiresSeconds = sent === undefined ? undefined : Number(sent);
    const wish = { action, difficulty, expires_seconds: expiresSeconds, hostname: hostname || undefined };
    return json((await dataOf<Static<typeof challenge.output>>(request.invoke(challenge.id, wish))).challenge);
  },
  refuse(failure, { requestId }) {
    const { status, headers } = telemetryStatus(failure);
    const { code, param } = failure;
    return json({ error: telemetrySentence(failure), code, param, request_id: requestId }, status, headers);
  },
});

/** What those services say of a reason, a field or a code of ours; other failures keep their status. */
const errorCodes: Readonly<Record<string, readonly string[]>> = {
  'timeout-or-duplicate': ['expired', 'replayed'],
  'action-mismatch': ['action_mismatch'],
  'missing-input-response': ['response'],
  'invalid-input-response': ['invalid', 'payload'],
  'missing-input-secret': ['UNAUTHORIZED'],
  'invalid-input-secret': ['INVALID_API_KEY', 'INSUFFICIENT_SCOPE'],
  'bad-request': ['INVALID_REQUEST', 'MALFORMED_JSON', 'VALIDATION_FAILED'],
};
const errorCodeOf = (cause: string) => Object.keys(errorCodes).find((code) => errorCodes[code]?.includes(cause));

export const siteverifyRoute: RawRoute<Services> = {
  name: 'captcha.siteverify',
  methods: ['POST'],
  path: '/v1/captcha/siteverify',
  capability: null,
  bodyBytesMax: 16 * 1_024,
  credentialOf: telemetryCredential,
  answer: siteverify,
  refuse: refuseSite,
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
    success: found.success,
    'error-codes': found.success ? [] : [errorCodeOf(found.reason)],
    challenge_ts: found.challenge_at,
    ...(found.hostname !== null && { hostname: found.hostname }),
    action: found.action ?? '',
    difficulty: found.difficulty,
    challenge_id: found.challenge_id,
  });
}

function refuseSite(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { code, param, httpStatus } = failure;
  const known = (code === 'VALIDATION_FAILED' && errorCodeOf(param ?? '')) || errorCodeOf(code);
  const body = { code, message: telemetrySentence(failure), request_id: requestId };
  const [status, headers] = known ? [200, {}] : [httpStatus, telemetryStatus(failure).headers];
  return json({ success: false, 'error-codes': [known ?? 'internal-error'], ...body }, status, headers);
}
