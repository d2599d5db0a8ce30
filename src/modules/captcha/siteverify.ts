// Verification in the shape that reCAPTCHA, hCaptcha and Turnstile share: a form or JSON with secret and response, answered by `success` and
// `error-codes`. The secret is an API key with captcha.verify.
import type { Core } from '../../core/context.ts';
import { secretCredential } from '../../core/credentials/credential.ts';
import { basic, bearer } from '../../core/credentials/http-schemes.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { telemetrySentence } from '../../kit/telemetry.ts';
import type { JsonText } from '../../lib/json-text.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { PAYLOAD_CHARACTERS_MAX, SITEVERIFY_BYTES_MAX, VERIFY } from './limits.ts';
import type { Reason } from './solution.ts';
import type { VerificationRecord } from './verify.ts';

const codes: Readonly<Record<Reason, string | null>> = {
  ok: null,
  expired: 'timeout-or-duplicate',
  replayed: 'timeout-or-duplicate',
  invalid: 'invalid-input-response',
  action_mismatch: 'action-mismatch',
};
/** Failures that these services answer with status 200. */
const failures: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'invalid-input-secret',
  INVALID_API_KEY: 'invalid-input-secret',
  INSUFFICIENT_SCOPE: 'invalid-input-secret',
  INVALID_REQUEST: 'bad-request',
  VALIDATION_FAILED: 'bad-request',
};

export const siteverifyRoute: RawRoute<Core> = {
  ...{ name: 'captcha.siteverify', methods: ['POST'], path: '/v1/captcha/siteverify', capability: null },
  bodyBytesMax: SITEVERIFY_BYTES_MAX,
  credentialOf: (head) => bearer(head) ?? basic('password', head),
  answer: check,
  refuse,
};

async function check(request: RawRequest): Promise<RawAnswer> {
  const sent = fieldsOf(request);
  const { secret, response, action, difficulty } = sent;
  if (request.principal === null) {
    if (!secret) return fault('missing-input-secret');
    await request.identify(secretCredential(secret));
  }
  if (!response) return fault('missing-input-response');
  if (response.length > PAYLOAD_CHARACTERS_MAX) return fault('invalid-input-response');
  const expected = { ...(action && { action }), ...(difficulty && { difficulty }) };
  const { answer, problem: failure } = await request.invoke(VERIFY, { payload: response, ...expected });
  if (answer === null) throw failure;
  return told(JSON.parse((answer.data as JsonText).text) as VerificationRecord);
}

/** Texts alone; of the body, whose content type says what it is. Throws INVALID_REQUEST. */
function fieldsOf({ body, headers }: RawRequest): Partial<Record<string, string>> {
  const text = body.toString('utf8');
  if (!/^application\/json\b/i.test(headers['content-type'] ?? ''))
    return Object.fromEntries(new URLSearchParams(text));
  try {
    const fields = Object.entries(JSON.parse(text) as object);
    return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string'));
  } catch (cause) {
    throw problem('INVALID_REQUEST', { message: 'The body must be a form or a JSON object.', cause });
  }
}

function told({ success, reason, action, hostname, difficulty, challenge_id, challenge_at }: VerificationRecord) {
  const code = codes[reason];
  return shown(200, {
    success,
    'error-codes': code === null ? [] : [code],
    challenge_ts: challenge_at,
    ...(hostname !== null && { hostname }),
    action: action ?? '',
    ...{ difficulty, challenge_id },
  });
}

function fault(code: string): RawAnswer {
  return shown(200, { success: false, 'error-codes': [code] });
}

function refuse(failure: Problem, { requestId }: RawHead): RawAnswer {
  const known = failures[failure.code];
  const body = { code: failure.code, message: telemetrySentence(failure), request_id: requestId };
  const waitMs = failure.retryAfterMs;
  const answer = shown(known === undefined ? failure.httpStatus : 200, {
    ...{ success: false, 'error-codes': [known ?? 'internal-error'], ...body },
  });
  if (known !== undefined || waitMs === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) } };
}

function shown(status: number, value: object): RawAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers, body: JSON.stringify(value) };
}
