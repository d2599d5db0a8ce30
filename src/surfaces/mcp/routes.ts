// /mcp: the Model Context Protocol over HTTP, without sessions. Everything derives from the manifest. A tool call is a call by gateway/invoke
// under the key of the request. Failures before the protocol starts are answered in its form.

import { admission } from '../../core/admission.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { isLoopback } from '../../lib/loopback.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { type McpMessage, readMessage } from './message.ts';
import { answerMessage, type Library, loadLibrary, textOf } from './server.ts';
import { ToolSets } from './tool-sets.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const SERVER_ERROR = -32_000;

interface Surface {
  readonly manifest: Manifest;
  readonly sets: ToolSets;
}

export function mcpRoutes(services: () => Services, manifest: Manifest): readonly RawRoute[] {
  const surface = { manifest, sets: new ToolSets(manifest) };
  const route = (name: string, path: string): RawRoute => ({
    name,
    path,
    methods: ['POST'],
    capability: null,
    entryForm: 'mcp',
    bodyBytesMax: admission.doors.mcpMessageBytesMax,
    credentialOf: bearer,
    // There is no other: who has shown no key is refused before the body is read.
    bodyCredentialOf: () => null,
    answer: (request) => answer(surface, services(), request),
    refuse: (failure, head) => refusal(services, failure, head),
  });
  return [route('mcp', '/mcp'), route('mcp.modules', '/mcp/{modules}')];
}

async function answer(surface: Surface, core: Services, request: RawRequest): Promise<RawAnswer> {
  const { principal } = request;
  if (principal === null) throw new Error('the key is looked at before the message is answered');
  const library = await loadLibrary();
  const strange = strangerOf(library, core.baseUrl, request);
  if (strange !== null) return errorAnswer(403, SERVER_ERROR, strange);
  const { body, arguments: sent } = await ratedMessage(request);
  if (body.method === 'subscriptions/listen')
    return errorAnswer(404, METHOD_NOT_FOUND, 'There is nothing to subscribe to: lists change with the service only.');
  const readOnly = readOnlyOf(request);
  const set = surface.sets.of({ modules: request.params.modules ?? null, readOnly }, principal.scopes);
  const { baseUrl } = core;
  const message = { ...surface, set, request, body, baseUrl, arguments: sent, long: { text: null } };
  const response = await answerMessage(library, message);
  const text = await textOf(response, message);
  if (body.method !== 'tools/call') request.weighAnswer(text.length);
  return { status: response.status, headers: headersOf(response), body: text };
}

/**
 * The message. A long one takes reads by its bytes before it is looked at, as every one takes a read that calls no tool; a short call of
 * a tool is rated by what it calls. Throws RATE_LIMITED, and the Problems of what is no message.
 */
async function ratedMessage(request: RawRequest): Promise<McpMessage> {
  const { length } = request.body;
  const isLong = length > admission.call.freeBodyBytesMax;
  if (isLong) await request.rate(length);
  let method: unknown = null;
  try {
    const message = await request.read(readMessage, request.body);
    method = message.body.method;
    return message;
  } finally {
    // Of what is no message too.
    if (!isLong && method !== 'tools/call') await request.rate();
  }
}

/** What is wrong with the names by which the service was reached; null: nothing. A page of another site must not reach a local service. */
function strangerOf(library: Library, baseUrl: string, { headers }: RawHead): string | null {
  const own = () => [new URL(baseUrl).hostname, ...library.localhostAllowedHostnames()];
  const origin = headers.origin === undefined ? null : library.validateOriginHeader(headers.origin, own());
  if (origin?.ok === false) return origin.message;
  // Behind a proxy the name may be any.
  if (baseUrl.endsWith(`/${headers.host}`) || !isLoopback(new URL(baseUrl).hostname)) return null;
  const host = library.validateHostHeader(headers.host, own());
  return host.ok ? null : host.message;
}

function readOnlyOf({ query }: RawHead): boolean {
  const sent = query.get('read_only');
  if (sent === null || sent === 'false') return false;
  if (sent === 'true') return true;
  throw problem('VALIDATION_FAILED', { param: 'read_only', detail: 'enum', message: 'read_only is true or false.' });
}

function headersOf({ headers }: Response): RawAnswer['headers'] {
  const sent = [...headers].filter(([name]) => name !== 'content-length' && name !== 'connection');
  return { ...Object.fromEntries(sent), 'cache-control': 'no-store' };
}

/** What the surface, or the service, refuses a message with. */
function refusal(services: () => Services, failure: Problem, { requestId }: RawHead): RawAnswer {
  const { code, httpStatus, message, retryable, retryAfterMs, detail, param } = failure;
  const shown = httpStatus === 500 ? 'Something went wrong inside the service.' : message;
  const number = code === 'MALFORMED_JSON' ? PARSE_ERROR : httpStatus === 400 ? INVALID_REQUEST : SERVER_ERROR;
  const answer = errorAnswer(httpStatus, number, shown, {
    code,
    http_status: httpStatus,
    retryable,
    request_id: requestId,
    ...(detail === undefined ? {} : { code_detail: detail }),
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }),
  });
  const more = {
    ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
    // Where to get a key (RFC 9728, section 5.1).
    ...(httpStatus === 401 ? { 'www-authenticate': challengeOf(services().baseUrl, code) } : {}),
  };
  return { ...answer, headers: { ...answer.headers, ...more } };
}

function challengeOf(baseUrl: string, code: string): string {
  const error = code === 'UNAUTHORIZED' ? '' : ' error="invalid_token",';
  return `Bearer realm="quartermaster",${error} resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp"`;
}

function errorAnswer(status: number, code: number, message: string, data?: object): RawAnswer {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify({ jsonrpc: '2.0', id: null, error }),
  };
}
