// Parses a client's message, in a thread when it is long. The arguments of a tool call are cut out as text: the library never sees them,
// and opaque data reaches the capability byte for byte.
import { isUtf8 } from 'node:buffer';
import { admission } from '../../core/admission.ts';
import { readJsonText } from '../../gateway/input/json-object.ts';
import type { BodyTask } from '../../kit/raw-route.ts';
import { memberSources } from '../../lib/json-source.ts';
import { problem } from '../../problems/problem.ts';

/** What may be long of a message is the input of a capability: all else has room in these. */
const { readHereBytesMax } = admission.call;
/** Names in them are the call's own affair: the capability is asked what they may be. */
const OPAQUE: ReadonlySet<string> = new Set(['arguments']);
/** Arguments of the surface's own tools. */
const OWN = ['query', 'module', 'limit', 'id', 'select'] as const;
const OTHERS_MAX = 20;
const NO_ARGUMENTS: ToolArguments = { text: '{}', withoutSelect: null, input: null, own: {}, others: [] };

export interface McpMessage {
  /** The message, its `params.arguments` left empty. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly arguments: ToolArguments;
}

export interface ToolArguments {
  /** As they were sent. */
  readonly text: string;
  /** The same without `select`; null: it is not there. */
  readonly withoutSelect: string | null;
  /** `input`, as it was sent; null: it is not there. */
  readonly input: string | null;
  /** Of those that the surface's own tools read, and what stands for `input`: an object, or what it is in place of one. */
  readonly own: Readonly<Record<string, unknown>>;
  /** The first names of those that none of the surface's own tools reads. */
  readonly others: readonly string[];
}

/** Throws MALFORMED_JSON, PAYLOAD_TOO_LARGE, INVALID_REQUEST. */
export const readMessage: BodyTask<McpMessage> = {
  source: import.meta.url,
  id: 'mcp.message',
  run(bytes) {
    if (!isUtf8(bytes)) throw problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' });
    const text = bytes.toString('utf8');
    if (text.trimStart().startsWith('['))
      throw problem('INVALID_REQUEST', { message: 'Send one message a request: there are no batches.' });
    const { value } = readJsonText(text, OPAQUE);
    const { params } = value;
    const sent = isObject(params) && Object.hasOwn(params, 'arguments') ? params.arguments : undefined;
    const source = value.method === 'tools/call' && isObject(sent) ? argumentsOf(text) : null;
    if (text.length - (source?.length ?? 0) > readHereBytesMax) {
      const message = `Beside the arguments of a tool's call a message may have at most ${readHereBytesMax} characters.`;
      throw problem('PAYLOAD_TOO_LARGE', { message });
    }
    if (source === null) return { body: value, arguments: NO_ARGUMENTS };
    const body = { ...value, params: { ...(params as object), arguments: {} } };
    return { body, arguments: readArguments(source, sent as Record<string, unknown>) };
  },
};

function readArguments(text: string, values: Readonly<Record<string, unknown>>): ToolArguments {
  const of = (name: string) => Object.hasOwn(values, name);
  const own = Object.fromEntries(OWN.filter(of).map((name) => [name, values[name]]));
  const { input } = values;
  const isInput = of('input') && input !== null;
  // Its members are its capability's affair.
  const shape = isObject(input) ? {} : Array.isArray(input) ? [] : input;
  const isOther = (name: string) => name !== 'input' && !(OWN as readonly string[]).includes(name);
  const unread = Object.keys(values).filter(isOther).slice(0, OTHERS_MAX);
  if (!of('select') && !isInput) return { text, withoutSelect: null, input: null, own, others: unread };
  const sources = [...memberSources(text)].map(([name, { start, end }]) => [name, text.slice(start, end)] as const);
  const others = sources.filter(([name]) => name !== 'select');
  return {
    text,
    withoutSelect: of('select')
      ? `{${others.map(([name, source]) => `${JSON.stringify(name)}:${source}`).join(',')}}`
      : null,
    input: isInput ? (sources.find(([name]) => name === 'input')?.[1] ?? null) : null,
    own: { ...own, ...(of('input') ? { input: shape } : {}) },
    others: unread,
  };
}

function argumentsOf(text: string): string | null {
  const params = memberSources(text).get('params');
  const at = params === undefined ? undefined : memberSources(text, params.start).get('arguments');
  return at === undefined ? null : text.slice(at.start, at.end);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
