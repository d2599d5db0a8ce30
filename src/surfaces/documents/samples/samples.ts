// Renders a capability's example as programs that read the key from QM_KEY: by curl, and by the clients for TypeScript and Python.
import type { Capability, CapabilityExample } from '../../../kit/capability.ts';
import { withStandIns } from '../../../manifest/example.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { curlOf, curlOfExample, isDone } from '../curl.ts';
import type { Sample } from '../docs/page.ts';

type Input = Readonly<Record<string, unknown>>;

interface Call {
  readonly id: string;
  readonly input: Input;
}

/** The calls that lead to the example and the example itself. */
export function samplesOf(
  manifest: Manifest,
  capability: Capability,
  example: CapabilityExample,
  baseUrl: string,
): readonly Sample[] {
  const before = (example.before ?? []).filter(isDone);
  const calls = [...before, { capability: capability.id, input: example.input }].flatMap((call) => {
    const target = manifest.byId.get(call.capability);
    return target === undefined ? [] : [{ id: target.id, input: withStandIns(call.input) }];
  });
  return inLanguages(curlOfExample(manifest, capability, example, baseUrl), calls, baseUrl);
}

/** Calls with their input, one after the other. */
export function samplesOfCalls(
  made: readonly { readonly capability: Capability; readonly input: Input }[],
  baseUrl: string,
): readonly Sample[] {
  const commands = made.map(({ capability, input }) => curlOf(capability, input, baseUrl));
  return inLanguages(
    commands.join('\n\n'),
    made.map(({ capability, input }) => ({ id: capability.id, input })),
    baseUrl,
  );
}

function inLanguages(curl: string, calls: readonly Call[], baseUrl: string): readonly Sample[] {
  return [
    { language: 'bash', text: curl },
    { language: 'ts', text: typeScriptOf(calls, baseUrl) },
    { language: 'python', text: pythonOf(calls, baseUrl) },
  ];
}

function typeScriptOf(calls: readonly Call[], baseUrl: string): string {
  const head = `import { createClient } from 'quartermaster-client';\n\nconst qm = createClient({ url: ${JSON.stringify(baseUrl)} });\n`;
  const statements = calls.map(
    ({ id, input }) => `console.log(await qm.${id}(${isEmpty(input) ? '' : JSON.stringify(input, null, 2)}));`,
  );
  return [head, ...statements].join('\n');
}

function pythonOf(calls: readonly Call[], baseUrl: string): string {
  const head = `from quartermaster import Client\n\nqm = Client(url=${JSON.stringify(baseUrl)})\n`;
  const statements = calls.map(({ id, input }) => {
    const words = id.split('.').map((word) => (RESERVED.has(word) ? `${word}_` : word));
    return `print(qm.${words.join('.')}(${isEmpty(input) ? '' : pythonLiteral(input, '')}))`;
  });
  return [head, ...statements].join('\n');
}

const isEmpty = (input: Input) => Object.keys(input).length === 0;

/** Words of Python that ids have; the client ends them in _. */
const RESERVED = new Set([
  'import',
  'from',
  'global',
  'pass',
  'is',
  'in',
  'not',
  'or',
  'and',
  'class',
  'def',
  'del',
  'return',
  'try',
  'with',
]);

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
