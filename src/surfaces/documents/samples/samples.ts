// Renders a capability's example as programs that read the key from QM_KEY: curl, TypeScript and Python, each without a library.
import type { Capability, CapabilityExample } from '../../../kit/capability.ts';
import { withStandIns } from '../../../manifest/example.ts';
import { takesBody } from '../../../manifest/failures.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { curlOf, curlOfExample, queryText, splitInput } from '../curl.ts';
import type { Sample } from '../docs/page.ts';

type Input = Readonly<Record<string, unknown>>;

interface Call {
  readonly method: string;
  readonly url: string;
  /** Undefined: it has none. */
  readonly body: Input | undefined;
}

/** The calls that lead to the example and the example itself. */
export function samplesOf(
  manifest: Manifest,
  capability: Capability,
  example: CapabilityExample,
  baseUrl: string,
): readonly Sample[] {
  const calls = [...(example.before ?? []), { capability: capability.id, input: example.input }].flatMap((call) => {
    const target = manifest.byId.get(call.capability);
    return target === undefined ? [] : [callOf(target, withStandIns(call.input), baseUrl)];
  });
  return inLanguages(curlOfExample(manifest, capability, example, baseUrl), calls);
}

/** Calls with their input, one after the other. */
export function samplesOfCalls(
  made: readonly { readonly capability: Capability; readonly input: Input }[],
  baseUrl: string,
): readonly Sample[] {
  const commands = made.map(({ capability, input }) => curlOf(capability, input, baseUrl));
  return inLanguages(
    commands.join('\n\n'),
    made.map(({ capability, input }) => callOf(capability, input, baseUrl)),
  );
}

function inLanguages(curl: string, calls: readonly Call[]): readonly Sample[] {
  return [
    { language: 'bash', text: curl },
    { language: 'ts', text: typeScriptOf(calls) },
    { language: 'python', text: pythonOf(calls) },
  ];
}

function callOf(capability: Capability, input: Input, baseUrl: string): Call {
  const { path, rest } = splitInput(capability, input);
  if (!takesBody(capability))
    return { method: capability.method, url: `${baseUrl}${path}${queryText(rest)}`, body: undefined };
  return {
    method: capability.method,
    url: `${baseUrl}${path}`,
    body: Object.keys(rest).length === 0 ? undefined : rest,
  };
}

function typeScriptOf(calls: readonly Call[]): string {
  const statements = calls.map(({ method, url, body }, i) => {
    const options = [
      ...(method === 'GET' ? [] : [`  method: '${method}',`]),
      body === undefined
        ? `  headers: { authorization: 'Bearer ' + process.env.QM_KEY },`
        : `  headers: { authorization: 'Bearer ' + process.env.QM_KEY, 'content-type': 'application/json' },`,
      ...(body === undefined ? [] : [`  body: JSON.stringify(${indentText(JSON.stringify(body, null, 2), '  ')}),`]),
    ];
    return `${i === 0 ? 'let ' : ''}response = await fetch(${JSON.stringify(url)}, {\n${options.join('\n')}\n});\nconsole.log(await response.json());`;
  });
  return statements.join('\n\n');
}

function pythonOf(calls: readonly Call[]): string {
  const head = `import json, os, urllib.request

def call(method, url, body=None):
    headers = {"Authorization": f"Bearer {os.environ['QM_KEY']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as response:
        return json.load(response)
`;
  const statements = calls.map(({ method, url, body }) => {
    const sent = body === undefined ? '' : `, ${pythonLiteral(body, '')}`;
    return `print(call("${method}", ${JSON.stringify(url)}${sent}))`;
  });
  return [head, ...statements].join('\n');
}

/** A value of JSON as Python writes it. */
function pythonLiteral(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}    `;
  if (Array.isArray(value)) return `[${value.map((item) => pythonLiteral(item, deeper)).join(', ')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${deeper}${JSON.stringify(name)}: ${pythonLiteral(member, deeper)},`,
  );
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`;
}

function indentText(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}
