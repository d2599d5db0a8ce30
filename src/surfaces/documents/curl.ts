// Renders a capability's example as shell commands that can be pasted once QM_KEY holds the key.
import { type Capability, type CapabilityExample, pathParameters } from '../../kit/capability.ts';
import { withStandIns } from '../../manifest/example.ts';
import { takesBody } from '../../manifest/failures.ts';
import type { Manifest } from '../../manifest/manifest.ts';

type Input = Readonly<Record<string, unknown>>;

export interface SplitInput {
  readonly path: string;
  /** Fields beside the path. */
  readonly rest: Input;
}

/** Puts the path parameters of `input` into the path; what is left goes to the query or the body. */
export function splitInput(capability: Pick<Capability, 'path'>, input: Input): SplitInput {
  const inPath = new Set(pathParameters(capability.path));
  const path = capability.path.replace(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  return { path, rest: Object.fromEntries(Object.entries(input).filter(([name]) => !inPath.has(name))) };
}

/** The calls that lead to the example and the example itself, one command each. */
export function curlOfExample(
  manifest: Manifest,
  capability: Capability,
  example: CapabilityExample,
  baseUrl: string,
): string {
  // What is refused would end a program; its error is where the next call has its value from.
  const first = (example.before ?? []).filter(isDone).flatMap((call) => {
    const target = manifest.byId.get(call.capability);
    return target === undefined ? [] : [`${exampleCurl(target, call.input, baseUrl)}${untilText(call.until)}`];
  });
  return [...first, exampleCurl(capability, example.input, baseUrl)].join('\n\n');
}

export function isDone({ refused }: { readonly refused?: string }): boolean {
  return refused === undefined;
}

/** Tells the reader of a call that is to be repeated. */
function untilText(until: Input | undefined): string {
  if (until === undefined) return '';
  return `\n# again, until the answer has ${Object.entries(until)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(' and ')}`;
}

function exampleCurl(capability: Capability, input: Input, baseUrl: string): string {
  return curlOf(capability, withStandIns(input), baseUrl);
}

/** One call as a command. What is undefined is left out. */
export function curlOf(capability: Capability, input: Input, baseUrl: string): string {
  const { path, rest } = splitInput(capability, input);
  const url = `${baseUrl}${path}${takesBody(capability) ? '' : queryText(rest)}`;
  const method = capability.method === 'GET' ? '' : ` -X ${capability.method}`;
  const lines = [`curl -sS${method} ${shellWord(url)}`, '  -H "Authorization: Bearer $QM_KEY"'];
  if (takesBody(capability) && Object.keys(rest).length > 0) {
    lines.push("  -H 'Content-Type: application/json'", `  -d ${shellWord(JSON.stringify(rest))}`);
  }
  return lines.join(' \\\n');
}

/** `?name=value`; nothing when there are none. */
export function queryText(fields: Input): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      query.append(name, item !== null && typeof item === 'object' ? JSON.stringify(item) : String(item));
    }
  }
  return query.size === 0 ? '' : `?${query}`;
}

/** One word of a POSIX shell, taken literally. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
