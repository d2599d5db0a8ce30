// The authorization server: the device grant (RFC 8628), codes with PKCE, and the metadata of both (RFC 8414, RFC 9728). Requests are forms and
// answers are OAuth's JSON; they are never cached, and pages of other sites cannot read them. A device names itself by `client_id`; a program that
// has no metadata document may register itself (RFC 7591).
import { admission } from '../../core/admission.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { redeemCode } from '../../people/devices/authorization.ts';
import { readClientName, readScopes, shownUserCode } from '../../people/devices/codes.ts';
import { type DeviceKey, type Polled, pollDevice, startDevice } from '../../people/devices/devices.ts';
import { Problem } from '../../problems/problem.ts';
import { isOurs } from '../pages/device/authorize.ts';
import { registerClient } from '../pages/device/registration.ts';
import { readForm, repeatedField } from '../pages/own-form.ts';
import { PageViews } from '../pages/page-views.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CODE_GRANT = 'authorization_code';
const { formBytesMax } = admission.doors;

export function oauthRoutes(services: () => Services): readonly RawRoute[] {
  let visits: PageViews | undefined;
  const post = (name: string, path: string, answer: (core: Services, request: RawRequest) => Promise<RawAnswer>) =>
    ({
      name,
      methods: ['POST'],
      path,
      capability: null,
      bodyBytesMax: formBytesMax,
      refuse: refusal,
      answer: async (request) => {
        const core = services();
        visits ??= new PageViews(core.bounds);
        visits.count(request.remoteAddress);
        return answer(core, request);
      },
    }) satisfies RawRoute;
  return [
    {
      name: 'oauth.metadata',
      methods: ['GET'],
      path: '/.well-known/oauth-authorization-server',
      capability: null,
      bodyBytesMax: formBytesMax,
      refuse: refusal,
      answer: async () => json(200, metadata(services())),
    },
    ...['', '/{modules}'].map(
      (below): RawRoute => ({
        name: 'oauth.resource',
        methods: ['GET'],
        path: `/.well-known/oauth-protected-resource/mcp${below}`,
        capability: null,
        bodyBytesMax: formBytesMax,
        refuse: refusal,
        answer: async () => json(200, resourceOf(services())),
      }),
    ),
    post('oauth.register', '/oauth/register', register),
    post('oauth.device', '/oauth/device_authorization', byForm(start)),
    post('oauth.token', '/oauth/token', byForm(token)),
  ];
}

function byForm(answer: (core: Services, form: URLSearchParams, request: RawRequest) => Promise<RawAnswer>) {
  return async (core: Services, request: RawRequest): Promise<RawAnswer> => {
    const fields = readForm(request.headers, request.body);
    const twice = repeatedField(fields);
    if (twice !== null) return errorAnswer(400, 'invalid_request', `${printable(twice)} is given more than once.`);
    return answer(core, fields, request);
  };
}

function metadata({ baseUrl }: Services) {
  return {
    issuer: baseUrl,
    device_authorization_endpoint: `${baseUrl}/oauth/device_authorization`,
    token_endpoint: `${baseUrl}/oauth/token`,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    grant_types_supported: [CODE_GRANT, DEVICE_GRANT],
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}

/** What tokens are for: MCP at any of its addresses. */
function resourceOf({ baseUrl }: Services) {
  return {
    resource: `${baseUrl}/mcp`,
    authorization_servers: [baseUrl],
    bearer_methods_supported: ['header'],
    resource_name: 'Quartermaster',
  };
}

async function register(core: Services, { body, remoteAddress }: RawRequest): Promise<RawAnswer> {
  const registered = await registerClient(core, jsonOf(body), remoteAddress);
  if (typeof registered === 'number')
    return errorAnswer(429, 'slow_down', 'At most 10 clients a minute can register in one network.', registered);
  if ('error' in registered) return errorAnswer(400, registered.error, registered.description);
  return json(201, {
    client_id: registered.clientId,
    client_id_issued_at: Math.floor(registered.issuedAtMs / 1_000),
    ...(registered.name === null ? {} : { client_name: registered.name }),
    redirect_uris: registered.redirectUris,
    grant_types: [CODE_GRANT],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
}

/** Undefined: it is no JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function start(core: Services, form: URLSearchParams, request: RawRequest): Promise<RawAnswer> {
  const clientName = readClientName(form.get('client_id'));
  if (clientName === null)
    return errorAnswer(400, 'invalid_request', 'client_id must be a name of 1 to 128 characters, on one line.');
  let scopes: readonly string[] | null;
  try {
    scopes = readScopes(core.knownScopes, form.get('scope'));
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'INVALID_SCOPE') throw error;
    return errorAnswer(400, 'invalid_scope', error.message);
  }
  if (scopes === null) return errorAnswer(400, 'invalid_scope', 'scope may have at most 100 parts.');
  const started = await startDevice(core, { clientName, scopes, remoteAddress: request.remoteAddress });
  if (typeof started === 'number')
    return errorAnswer(429, 'slow_down', 'At most 10 devices a minute can begin in one network.', started);
  const userCode = shownUserCode(started.userCode);
  return json(200, {
    device_code: started.deviceCode,
    user_code: userCode,
    verification_uri: `${core.baseUrl}/device`,
    verification_uri_complete: `${core.baseUrl}/device?user_code=${userCode}`,
    expires_in: started.expiresInS,
    interval: started.intervalS,
  });
}

async function token(core: Services, form: URLSearchParams): Promise<RawAnswer> {
  const grant = form.get('grant_type');
  if (grant === null) return errorAnswer(400, 'invalid_request', 'grant_type is missing.');
  if (grant === CODE_GRANT) return tokenByCode(core, form);
  if (grant !== DEVICE_GRANT)
    return errorAnswer(400, 'unsupported_grant_type', `grant_type must be ${CODE_GRANT} or ${DEVICE_GRANT}.`);
  const [deviceCode, clientName] = [form.get('device_code'), readClientName(form.get('client_id'))];
  if (deviceCode === null) return errorAnswer(400, 'invalid_request', 'device_code is missing.');
  if (clientName === null)
    return errorAnswer(400, 'invalid_request', 'client_id must be the name that the device began with.');
  const answer = await pollDevice(core, deviceCode, clientName);
  return answer.kind === 'key' ? json(200, tokenOf(answer.key)) : errorAnswer(400, answer.kind, descriptionOf(answer));
}

async function tokenByCode(core: Services, form: URLSearchParams): Promise<RawAnswer> {
  const names = ['code', 'code_verifier', 'client_id', 'redirect_uri'] as const;
  const missing = names.find((name) => !form.get(name));
  if (missing !== undefined) return errorAnswer(400, 'invalid_request', `${missing} is missing.`);
  if (!isOurs(core, form.get('resource')))
    return errorAnswer(400, 'invalid_target', `resource must be ${core.baseUrl}/mcp, or below it.`);
  const [code, verifier, clientId, redirectUri] = names.map((name) => form.get(name) as string) as [
    string,
    string,
    string,
    string,
  ];
  const answer = await redeemCode(core, code, verifier, { clientId, redirectUri });
  if (answer.kind === 'key') return json(200, tokenOf(answer.key));
  if (answer.kind === 'access_denied') return errorAnswer(400, 'invalid_grant', answer.why);
  return errorAnswer(
    400,
    'invalid_grant',
    'The code is none of this client, verifier and redirect_uri, or was used, or has expired.',
  );
}

function tokenOf({ accountId, keyId, secret, scopes, expiresInS }: DeviceKey) {
  return {
    access_token: secret,
    token_type: 'Bearer',
    ...(expiresInS === null ? {} : { expires_in: expiresInS }),
    scope: scopes.join(' '),
    key_id: keyId,
    account_id: accountId,
  };
}

function descriptionOf(answer: Exclude<Polled, { kind: 'key' }>): string {
  switch (answer.kind) {
    case 'authorization_pending':
      return 'The person has not decided yet.';
    case 'slow_down':
      return `Ask every ${answer.intervalS} seconds.`;
    case 'access_denied':
      return answer.why;
    case 'expired_token':
      return 'The code has expired; begin again.';
    case 'invalid_grant':
      return 'There is no such device code of this client, or its key was fetched long ago.';
  }
}

/** What the surface, or the service, refuses it with. */
function refusal({ httpStatus, message, retryAfterMs }: Problem): RawAnswer {
  if (httpStatus >= 500)
    return errorAnswer(
      httpStatus,
      httpStatus === 503 ? 'temporarily_unavailable' : 'server_error',
      message,
      retryAfterMs,
    );
  return errorAnswer(httpStatus, httpStatus === 429 ? 'slow_down' : 'invalid_request', message, retryAfterMs);
}

/** RFC 6749 §5.2. */
function errorAnswer(status: number, error: string, description: string, retryAfterMs?: number): RawAnswer {
  const answer = json(status, { error, error_description: printable(description) });
  if (retryAfterMs === undefined) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) },
  };
}

/** What RFC 6749 allows in error_description. */
function printable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll('’', "'")
    .replace(/[^\x20-\x7e]|\\/g, '?')
    .slice(0, 500);
}

function json(status: number, body: object): RawAnswer {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    },
    body: JSON.stringify(body),
  };
}
