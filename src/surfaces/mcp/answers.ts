// Results of tools: the envelope's data and metadata as structured content, and the same as text for clients that support only text. Anything
// left out for size is named.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { admission } from '../../core/admission.ts';
import type { BodyTask } from '../../kit/raw-route.ts';
import { invalidField, type Problem } from '../../problems/problem.ts';

const { mcpAnswerCharacters, mcpSelectMax, mcpSelectCharactersMax } = admission.call;
const SUCCESS = '{"ok":true,';
const FAILURE = '{"ok":false,';

interface Content {
  data?: unknown;
  error?: unknown;
  readonly metadata: unknown;
  truncated?: readonly string[];
}

/** The result of a call, from its envelope as JSON text. `select`: pointers to what of data is kept; null: all of it. */
export function resultOf(envelope: string, select: readonly string[] | null): CallToolResult {
  const failed = envelope.startsWith(FAILURE);
  const text = `{${envelope.slice((failed ? FAILURE : SUCCESS).length)}`;
  const content = JSON.parse(text) as Content;
  if (failed) return { content: [{ type: 'text', text }], structuredContent: { ...content }, isError: true };
  const isWhole = select === null && text.length <= mcpAnswerCharacters;
  if (isWhole) return { content: [{ type: 'text', text }], structuredContent: { ...content } };
  if (select !== null) content.data = selectParts(content.data, select);
  return withinSize(content);
}

/** The same of a long envelope, as JSON text: made in a thread. The body is `select` as JSON, a line feed, and the envelope. */
export const longResult: BodyTask<string> = {
  source: import.meta.url,
  id: 'mcp.result',
  run(body) {
    const text = body.toString('utf8');
    const end = text.indexOf('\n');
    return JSON.stringify(resultOf(text.slice(end + 1), JSON.parse(text.slice(0, end))));
  },
};

/** The result of what the surface itself answers. */
export function ownResult(data: unknown, metadata: unknown): CallToolResult {
  return withinSize({ data, metadata });
}

function withinSize(content: Content): CallToolResult {
  const text = JSON.stringify(content);
  if (text.length <= mcpAnswerCharacters)
    return { content: [{ type: 'text', text }], structuredContent: { ...content } };
  const { data, truncated } = cutStrings(content.data, text.length - mcpAnswerCharacters);
  const shorter = { ...content, data, ...(truncated.length === 0 ? {} : { truncated }) };
  return { content: [{ type: 'text', text: JSON.stringify(shorter) }], structuredContent: shorter };
}

/** The pointers of a call. Throws VALIDATION_FAILED for what are none (RFC 6901). */
export function readSelect(sent: unknown): readonly string[] | null {
  if (sent === undefined || sent === null) return null;
  if (!Array.isArray(sent)) throw invalidField('select', 'type', 'select must be an array of JSON pointers.');
  if (sent.length > mcpSelectMax)
    throw invalidField('select', 'maxItems', `select may have at most ${mcpSelectMax} JSON pointers.`);
  sent.forEach((pointer, i) => {
    const fault = pointerFault(pointer);
    if (fault !== null) throw fault(`select[${i}]`);
  });
  return sent as string[];
}

function pointerFault(pointer: unknown): ((param: string) => Problem) | null {
  if (typeof pointer !== 'string') return (param) => invalidField(param, 'type', `${param} must be a string.`);
  if (pointer.length > mcpSelectCharactersMax)
    return (param) =>
      invalidField(param, 'maxLength', `${param} may have at most ${mcpSelectCharactersMax} characters.`);
  if (pointer === '' || (pointer.startsWith('/') && !/~(?![01])/.test(pointer))) return null;
  return (param) => invalidField(param, 'pointer', `${param} must be a JSON pointer such as /items/0/id.`);
}

/** The parts that the pointers name, nested as they were; of arrays the named elements in their order. What is not there is left out. */
function selectParts(data: unknown, pointers: readonly string[]): unknown {
  const paths = pointers.map((pointer) => pointer.split('/').slice(1).map(unescapePointer));
  return keepPaths(data, paths);
}

function keepPaths(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.some((path) => path.length === 0) || value === null || typeof value !== 'object') return value;
  const below = Map.groupBy(paths, ([first]) => first as string);
  const entries = Object.entries(value).flatMap(([name, item]) => {
    const rest = below.get(name)?.map((path) => path.slice(1));
    // Of what holds nothing a pointer into it names nothing.
    if (rest === undefined || (!isContainer(item) && rest.every((path) => path.length > 0))) return [];
    return [[name, keepPaths(item, rest)] as const];
  });
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

function isContainer(value: unknown): boolean {
  return value !== null && typeof value === 'object';
}

/** Cuts the longest strings until `excess` characters are gone, or no string is left to cut; with JSON pointers to what was cut. */
function cutStrings(data: unknown, excess: number): { data: unknown; truncated: string[] } {
  const lengths = stringLengths(data).sort((left, right) => right - left);
  const longest = cutTo(lengths, excess);
  const truncated: string[] = [];
  const walk = (value: unknown, at: string): unknown => {
    if (typeof value === 'string') {
      if (value.length <= longest) return value;
      truncated.push(at);
      // Half of a surrogate pair is no character.
      return value.slice(0, longest).toWellFormed();
    }
    if (Array.isArray(value)) return value.map((item, i) => walk(item, `${at}/${i}`));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, walk(item, `${at}/${escapePointer(name)}`)]),
    );
  };
  return { data: walk(data, ''), truncated };
}

/** The length to which strings of these lengths, longest first, are cut. Names of what is cut take room too. */
function cutTo(lengths: readonly number[], excess: number): number {
  let gone = 0;
  for (const [i, length] of lengths.entries()) {
    const next = lengths[i + 1] ?? 0;
    const cuts = i + 1;
    const wanted = excess + cuts * CUT_CHARACTERS;
    if (gone + (length - next) * cuts >= wanted) return Math.max(0, Math.floor(length - (wanted - gone) / cuts));
    gone += (length - next) * cuts;
  }
  return 0;
}

/** Of a pointer, and of escapes at the end of a cut string. */
const CUT_CHARACTERS = 64;

function stringLengths(value: unknown): number[] {
  const lengths: number[] = [];
  const walk = (each: unknown): void => {
    if (typeof each === 'string') lengths.push(each.length);
    else if (each !== null && typeof each === 'object') for (const item of Object.values(each)) walk(item);
  };
  walk(value);
  return lengths;
}

function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
