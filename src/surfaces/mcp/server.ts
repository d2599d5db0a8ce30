// Answers one message of a client through the official library, in the client's revision: 2026-07-28, or one of 2025 without a session. The
// library is loaded at the first message: it takes 30 MB and 0.2 s. No state is kept between messages.
import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import { admission } from '../../core/admission.ts';
import { nearestField } from '../../gateway/input/nearest-field.ts';
import { toProblem } from '../../gateway/to-problem.ts';
import type { Capability } from '../../kit/capability.ts';
import type { RawRequest } from '../../kit/raw-route.ts';
import { JsonText } from '../../lib/json-text.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { apiVersion, serviceName } from '../../manifest/version.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { renderProblem } from '../../problems/render.ts';
import { longResult, readSelect, resultOf } from './answers.ts';
import type { ToolArguments } from './message.ts';
import type { OwnTool } from './own-tools.ts';
import { readResource, resourcesOf, resourceTemplates } from './resources.ts';
import type { ToolSet } from './tool-sets.ts';
import { takesSelect } from './tools.ts';

export interface Message {
  readonly manifest: Manifest;
  readonly baseUrl: string;
  readonly set: ToolSet;
  readonly request: RawRequest;
  /** As `readMessage` reads it. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly arguments: ToolArguments;
  /** What is put in place of a long result, when the answer is text. */
  readonly long: { text: string | null };
}

/** The revision of the protocol that is newest here. */
const MODERN = '2026-07-28';

export type Library = typeof import('@modelcontextprotocol/server');
let loading: Promise<Library> | undefined;

export function loadLibrary(): Promise<Library> {
  loading ??= import('@modelcontextprotocol/server');
  return loading;
}

const cached = { ttlMs: 5 * 60_000, cacheScope: 'private' } as const;
/** Lists change with the service, or with the scopes of the key. */
const cacheHints = {
  'tools/list': cached,
  'resources/list': cached,
  'resources/templates/list': cached,
  'resources/read': cached,
  'server/discover': cached,
} as const;
const instructions =
  'Infrastructure for software agents behind one key and one prepaid wallet. Each answer has data and metadata (cost_usd). A failed call has error: mend what error.param names; retry only when error.retryable is true. Send the same idempotency_key with a retry of a write.';

/** Answers the message. Throws nothing that the message causes. */
export async function answerMessage(library: Library, message: Message): Promise<Response> {
  const request = asRequest(message.request);
  const parsed = { parsedBody: message.body };
  if (!(await isLegacy(library, request, message.body))) {
    return library.createMcpHandler(() => serverFor(library, message), { keepAliveMs: 0 }).fetch(request, parsed);
  }
  // JSON, as there is one answer: the stream that the library's own way makes of it takes a quarter more time.
  const transport = new library.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, keepAliveMs: 0 });
  await serverFor(library, message).connect(transport);
  return transport.handleRequest(request, parsed);
}

/** Of a revision of 2025. The header tells most: asked of the whole message, the library reads it twice. */
async function isLegacy(library: Library, request: Request, body: unknown): Promise<boolean> {
  return request.headers.get('mcp-protocol-version') !== MODERN && (await library.isLegacyRequest(request, body));
}

/**
 * The request as far as the library looks at one whose body is parsed. Building whole Requests takes
 * nearly half of the time of a call.
 */
function asRequest({ headers, signal }: RawRequest): Request {
  const get = (name: string) => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'string' ? value : null;
  };
  const has = (name: string) => get(name) !== null;
  return {
    method: 'POST',
    url: 'http://mcp.invalid/',
    headers: { get, has },
    signal,
    body: null,
  } as unknown as Request;
}

/** With the handler of this message only: there is no other. */
function serverFor(library: Library, message: Message): Server {
  const { manifest, set, baseUrl, body } = message;
  const server = new library.Server(
    { name: serviceName, version: apiVersion },
    {
      capabilities: { tools: {}, resources: {} },
      instructions,
      ...(body.method === 'tools/call' ? {} : { cacheHints }),
    },
  );
  switch (body.method) {
    case 'tools/call':
      server.setRequestHandler('tools/call', ({ params }) => callTool(library, message, params));
      break;
    case 'tools/list':
      server.setRequestHandler('tools/list', () => ({ tools: [...set.tools] }));
      break;
    case 'resources/list':
      server.setRequestHandler('resources/list', () => ({ resources: resourcesOf(manifest) }));
      break;
    case 'resources/templates/list':
      server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resourceTemplates] }));
      break;
    case 'resources/read':
      server.setRequestHandler('resources/read', ({ params: { uri } }) => {
        const found = readResource(manifest, baseUrl, uri);
        if (found === null) throw new library.ResourceNotFoundError(uri.slice(0, SHOWN_CHARACTERS));
        return found;
      });
      break;
  }
  return server;
}

const SHOWN_CHARACTERS = 200;

/** A failure is a result that says what to mend; only a tool that there is not is a failure of the protocol. */
async function callTool(
  library: Library,
  message: Message,
  params: { readonly name: string },
): Promise<CallToolResult> {
  const { set, request, baseUrl } = message;
  const found = set.find(params.name);
  if (found === undefined) {
    await request.rate();
    const near = nearest(params.name, namesOf(set), 1);
    const hint = near.length === 0 ? '' : ` Did you mean ${near[0]}?`;
    const text = `There is no tool ${JSON.stringify(params.name.slice(0, SHOWN_CHARACTERS))} here.${hint}`;
    throw new library.ProtocolError(library.INVALID_PARAMS, text);
  }
  try {
    return await run(message, found);
  } catch (error) {
    // What nobody foresaw is told, and logged, by the surface.
    if (toProblem(error).httpStatus === 500) throw error;
    const failure = await ratedFailure(request, error);
    const metadata = request.failureMetadata() as { trace_id: string } | null;
    const ids = { requestId: request.requestId, traceId: metadata?.trace_id ?? '' };
    const envelope = { ok: false, error: renderProblem(failure, ids, baseUrl), metadata };
    return resultOf(JSON.stringify(envelope), null);
  }
}

/** What called nothing takes a read all the same; where there is none, that is the failure. */
async function ratedFailure(request: RawRequest, error: unknown): Promise<Problem> {
  try {
    await request.rate();
    return toProblem(error);
  } catch (limited) {
    return toProblem(limited);
  }
}

async function run(message: Message, found: Capability | OwnTool): Promise<CallToolResult> {
  const { manifest, set, request, arguments: sent } = message;
  const toResult = (envelope: string, select: readonly string[] | null) => resultIn(message, envelope, select);
  if ('tool' in found) {
    refuseUnknown(found, sent);
    return found.run({ manifest, set, request, toResult, input: sent.own, inputText: sent.input });
  }
  if (set.readOnly && found.scope !== 'read')
    throw problem('INSUFFICIENT_SCOPE', {
      message: `${found.id} changes something, and this address is for reading only (read_only=true).`,
      detail: 'read_only',
    });
  const isPart = takesSelect(found) && sent.withoutSelect !== null;
  const select = isPart ? readSelect(sent.own.select) : null;
  const text = new JsonText(isPart ? (sent.withoutSelect as string) : sent.text);
  return toResult((await request.invoke(found.id, text)).envelope, select);
}

/** Throws VALIDATION_FAILED for an argument that the tool does not know: most often a field of a capability beside `input`. */
function refuseUnknown({ tool: { name, inputSchema } }: OwnTool, { own, others }: ToolArguments): void {
  const known = Object.keys(inputSchema.properties ?? {});
  const param = [...others, ...Object.keys(own)].find((each) => !known.includes(each))?.slice(0, SHOWN_CHARACTERS);
  if (param === undefined) return;
  const near = nearestField(param, known);
  const takes = known.length === 0 ? 'which takes none' : `which takes ${known.join(', ')}`;
  const hint = near === null ? '' : ` Did you mean ${near}?`;
  const fields = known.includes('input') ? ' Fields of the capability stand in input.' : '';
  const message = `${param} is not an argument of ${name}, ${takes}.${hint}${fields}`;
  const fault = { param, rule: 'unknown_field', message };
  throw problem('VALIDATION_FAILED', {
    param,
    detail: 'unknown_field',
    message,
    didYouMean: near ?? undefined,
    errors: [fault],
  });
}

/** Of a long envelope only a place is left: the library would read and write all of it, and others would wait for that. */
async function resultIn({ request, long }: Message, envelope: string, select: readonly string[] | null) {
  if (envelope.length <= admission.call.readHereBytesMax) return resultOf(envelope, select);
  const made = await request.read(longResult, Buffer.from(`${JSON.stringify(select)}\n${envelope}`));
  long.text = made;
  return { content: [{ type: 'text' as const, text: LONG }] };
}

/** Stands for the content of a long result, which is all that its answer has. */
const LONG = '\0long\0';
const LONG_CONTENT = JSON.stringify([{ type: 'text', text: LONG }]);

/** The answer as text. */
export async function textOf(response: Response, { long }: Pick<Message, 'long'>): Promise<string> {
  const text = await response.text();
  if (long.text === null) return text;
  const [before, after, ...more] = text.split(`"content":${LONG_CONTENT}`);
  if (after === undefined || more.length > 0) throw new Error('the place of a long result is not there once');
  return before + long.text.slice(1, -1) + after;
}

function namesOf(set: ToolSet): string[] {
  return set.tools.map(({ name }) => name);
}
