// Messages of MCP as far as the relay reads them: one a request, and which tool a call is of.
import type { BodyTask } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';

export interface Message {
  readonly id: string | number | null;
  /** Null: it is an answer of the client. */
  readonly method: string | null;
  /** Of a call of a tool. */
  readonly tool: string | null;
  readonly params: Readonly<Record<string, unknown>>;
  /** What goes to the server: what was read, and nothing else that a reader of other habits could find in the bytes. */
  readonly sent: Uint8Array;
}

/** Some servers read names without regard to case (Go's encoding/json): one of these in another spelling would be a second one. */
const READ_NAME = /^(?:jsonrpc|id|method|params|result|error|name|arguments|uri)$/iu;
const READ_NAME_EXACT = /^(?:jsonrpc|id|method|params|result|error|name|arguments|uri)$/;

/** Throws INVALID_REQUEST for what is no single message of JSON-RPC 2.0. A long one is read in a thread. */
export const readMessage: BodyTask<Message> = { source: import.meta.url, id: 'vault.mcp', run: messageOf };

function messageOf(body: Buffer): Message {
  const value = parseJson(body, wordedExactly);
  if (!isRecord(value) || value.jsonrpc !== '2.0')
    throw problem('INVALID_REQUEST', { message: 'The body is one message of JSON-RPC 2.0; batches are not relayed.' });
  const { id, method, params } = value;
  const fields = isRecord(params) ? params : {};
  for (const name of [...Object.keys(value), ...Object.keys(fields)]) {
    if (READ_NAME.test(name) && !READ_NAME_EXACT.test(name))
      throw problem('INVALID_REQUEST', { message: 'The message has a name of JSON-RPC or MCP in another spelling.' });
  }
  const isCall = method === 'tools/call';
  if (isCall && typeof fields.name !== 'string')
    throw problem('INVALID_REQUEST', { message: 'params.name is the name of a tool.' });
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    method: typeof method === 'string' ? method : null,
    tool: isCall ? (fields.name as string) : null,
    params: fields,
    sent: textOf(value),
  };
}

/** Throws INVALID_REQUEST for what is nested deeper than it can be written. */
function textOf(value: object): Buffer {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch {
    throw problem('INVALID_REQUEST', { message: 'The message is nested too deeply.' });
  }
}

/** The message without the tools that may not be called; the same where it lists none. */
export function withoutTools(text: string, tools: readonly string[]): string {
  const message = parseJson(Buffer.from(text));
  if (!isRecord(message) || !isRecord(message.result) || !Array.isArray(message.result.tools)) return text;
  const kept = message.result.tools.filter((tool: unknown) => isRecord(tool) && tools.includes(String(tool.name)));
  return JSON.stringify({ ...message, result: { ...message.result, tools: kept } });
}

const LONG_INTEGER = /\d{16}/;
/** To look at each number takes ten times as long. */
const EXACT_CHARACTERS_MAX = 64 * 1024;

type Reviver = (this: unknown, name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** A whole number that would lose digits goes on as it was written. */
function wordedExactly(text: string): unknown {
  if (text.length > EXACT_CHARACTERS_MAX || !LONG_INTEGER.test(text)) return JSON.parse(text);
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const keep: Reviver = (_name, value, { source = '' }) =>
    typeof value === 'number' && LONG_INTEGER.test(source) ? rawJSON(source) : value;
  return JSON.parse(text, keep as (name: string, value: unknown) => unknown);
}

function parseJson(body: Buffer, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
