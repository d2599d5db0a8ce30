// The official MCP clients of both generations, unchanged, and bare messages where a client would not send them.
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent: {
    // biome-ignore lint/suspicious/noExplicitAny: whatever the capability answers
    readonly data?: any;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    readonly error?: any;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    readonly metadata: any;
    readonly truncated?: readonly string[];
  };
  readonly isError?: boolean;
}

/** What the tests use of a client of either generation. */
export interface McpClient {
  call(name: string, input?: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>;
  // biome-ignore lint/suspicious/noExplicitAny: the generations have types of their own for the same
  tools(): Promise<any[]>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

export type Generation = '2025-11-25' | '2026-07-28';
export const generations: readonly Generation[] = ['2025-11-25', '2026-07-28'];
const who = { name: 'a test', version: '1' };

export async function connectMcp(generation: Generation, url: string, secret: string): Promise<McpClient> {
  const requestInit = { headers: { authorization: `Bearer ${secret}` } };
  if (generation === '2025-11-25') {
    const client = new OldClient(who);
    // Its types do not know exactOptionalPropertyTypes.
    const transport = new OldTransport(new URL(url), { requestInit });
    await client.connect(transport as unknown as Parameters<OldClient['connect']>[0]);
    return {
      call: async (name, input = {}, signal) =>
        (await client.callTool({ name, arguments: input }, undefined, {
          ...(signal === undefined ? {} : { signal }),
        })) as unknown as ToolResult,
      tools: async () => (await client.listTools()).tools,
      read: async (uri) => textOf((await client.readResource({ uri })).contents),
      close: () => client.close(),
    };
  }
  const client = new NewClient(who, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new NewTransport(new URL(url), { requestInit }));
  return {
    call: async (name, input = {}, signal) =>
      (await client.callTool(
        { name, arguments: input },
        {
          ...(signal === undefined ? {} : { signal }),
        },
      )) as unknown as ToolResult,
    tools: async () => (await client.listTools()).tools,
    read: async (uri) => textOf((await client.readResource({ uri })).contents),
    close: () => client.close(),
  };
}

function textOf(contents: readonly object[]): string {
  return contents.map((each) => ('text' in each ? String(each.text) : '')).join('');
}

/** One message as bytes, of the revisions without an envelope of their own. */
export async function postMcp(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: data.startsWith('{') ? JSON.parse(data) : null,
  };
}

export function toolCall(name: string, input: object, id = 1) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } };
}
