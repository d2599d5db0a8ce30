// The path /mcp/via/{connection}: an MCP server of others by streamable HTTP, with a credential that its client never sees.
import type { IncomingHttpHeaders } from 'node:http';
import type { AskedInput, RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { Problem, problem } from '../../../problems/problem.ts';
import { renderProblem } from '../../../problems/render.ts';
import { findConnection, targetAt } from '../calls/url.ts';
import { ruleRefused } from '../connections/rule.ts';
import { CALL, MCP_BYTES_MAX } from '../limits.ts';
import { relayRequest } from '../path/relay-request.ts';
import { credentialOf } from '../path/route.ts';
import { shownHeaders } from '../path/shown-headers.ts';
import type { VaultState } from '../state.ts';
import { listedTools } from './listed-tools.ts';
import { type Message, readMessage } from './message.ts';

export const mcpRoute: RawRoute<VaultState> = {
  name: 'vault.mcp',
  methods: ['GET', 'POST', 'DELETE'],
  path: '/mcp/via/{connection}',
  capability: null,
  entryForm: 'mcp',
  stream: 'answer',
  bodyBytesMax: MCP_BYTES_MAX,
  credentialOf,
  asked: askedOf,
  answer,
  refuse,
};

const messages = new WeakMap<RawRequest, Promise<Message>>();

/** The message of a POST, read once; null: it has none. */
async function messageOf(request: RawRequest): Promise<Message | null> {
  if (request.method !== 'POST') return null;
  const known = messages.get(request) ?? Promise.resolve(request.read(readMessage, request.body));
  messages.set(request, known);
  return known;
}

/** A call of a tool is another one each time by its id alone: people decide about the tool and what it is given. */
function askedOf(request: RawRequest): AskedInput {
  const { method, params } = request;
  const content = async () => {
    const message = await messageOf(request);
    if (message === null) return { message: null };
    if (message.tool === null) return { message: message.method, params: message.params };
    return { tool: message.tool, arguments: message.params.arguments ?? {} };
  };
  return { input: { connection: params.connection ?? '', method }, content };
}

async function answer(request: RawRequest, state: VaultState): Promise<RawAnswer> {
  const message = await messageOf(request);
  let relayedAnswer: RawAnswer | undefined;
  try {
    await request.perform(CALL, async (ctx) => {
      relayedAnswer = await relay(ctx, request, state, message);
      return { data: null, costNanos: relayedAnswer.costNanos as bigint };
    });
  } catch (error) {
    // A model reads the results of its tools, not the failures of its client.
    if (message === null || message.tool === null || !(error instanceof Problem)) throw error;
    return toolFailed(request, state, message, error);
  }
  if (relayedAnswer === undefined) throw new Error('the message was relayed without an answer');
  return relayedAnswer;
}

async function relay(
  ctx: CallContext,
  request: RawRequest,
  state: VaultState,
  message: Message | null,
): Promise<RawAnswer> {
  const { params, method, headers } = request;
  const found = await findConnection(ctx, params.connection ?? '');
  const { connection } = found;
  const { mcp } = connection;
  if (mcp === null)
    throw problem('NOT_FOUND', {
      param: 'connection',
      message: `The connection ${connection.connection} is no MCP server: set its mcp.`,
    });
  const { tools } = mcp;
  const tool = message?.tool ?? null;
  if (tool !== null && tools !== null && !tools.includes(tool))
    throw ruleRefused('path', `The connection ${connection.connection} does not allow the tool ${tool.slice(0, 128)}.`);
  const target = targetAt(connection, mcp.path);
  const passedOn = {
    found,
    method,
    target,
    headers: message === null ? headers : headersOfMessage(headers),
    isMessage: true,
    body: () => ({ content: message === null ? null : Buffer.from(message.sent) }),
  };
  const isList = tools !== null && (method === 'GET' || message?.method === 'tools/list');
  const answer = await relayRequest(ctx, state, passedOn, isList ? listedTools(tools) : undefined);
  const at = { target, connection: connection.connection, baseUrl: state.core.baseUrl, ownHost: headers.host };
  return { ...answer, headers: shownHeaders(answer.headers, at) };
}

/** What is sent is JSON in UTF-8, whatever was said of the bytes that came. */
function headersOfMessage({ 'content-encoding': _, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return { ...headers, 'content-type': 'application/json' };
}

function toolFailed({ requestId }: RawRequest, { core }: VaultState, { id }: Message, failure: Problem): RawAnswer {
  const error = renderProblem(failure, { requestId, traceId: '' }, core.baseUrl);
  const result = {
    content: [{ type: 'text', text: JSON.stringify({ error }) }],
    structuredContent: { error },
    isError: true,
  };
  return json(200, { jsonrpc: '2.0', id, result });
}

const SERVER_ERROR = -32_000;

function refuse({ code, message, httpStatus, retryable }: Problem, { requestId }: RawHead): RawAnswer {
  const error = { code: SERVER_ERROR, message, data: { code, retryable, request_id: requestId } };
  return json(httpStatus, { jsonrpc: '2.0', id: null, error }, { 'x-qm-code': code });
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): RawAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
