// A worked example: the first example of a capability and its prerequisite calls, as requests that run when they are sent in order.
import { type Capability, pathParameters } from '../../../kit/capability.ts';
import { referencedStep } from '../../../manifest/example.ts';
import { takesBody } from '../../../manifest/failures.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { queryText } from '../curl.ts';

type Input = Readonly<Record<string, unknown>>;

/** Markdown: a title and a block of requests. */
export function workedExample(manifest: Manifest, capability: Capability): string {
  const [example] = capability.examples;
  if (example === undefined) return '';
  const before = (example.before ?? []).flatMap(({ capability: id, input, until, refused }) => {
    const target = manifest.byId.get(id);
    return target === undefined ? [] : [requestLine(target, input, { until, refused })];
  });
  const lines = [...before, requestLine(capability, example.input, {})];
  return `### ${capability.id}: ${example.title}\n\n\`\`\`http\n${lines.join('\n')}\n\`\`\``;
}

/**
 * `POST /v1/queue/publish {"queue":"jobs",…}`; behind ` # until ` what the answer must hold before the next, behind ` # answers ` the code
 * that it is refused with.
 */
function requestLine(
  capability: Capability,
  input: Input,
  { until, refused }: { readonly until?: Input | undefined; readonly refused?: string | undefined },
): string {
  const inPath = new Set(pathParameters(capability.path));
  const path = capability.path.replace(/\{([a-z_]+)\}/g, (_, name: string) =>
    referencedStep(input[name]) === undefined ? encodeURIComponent(String(input[name])) : String(input[name]),
  );
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !inPath.has(name)));
  const sent = takesBody(capability) ? ` ${JSON.stringify(rest)}` : queryText(rest);
  return `${capability.method} ${path}${sent}${until === undefined ? '' : ` # until ${JSON.stringify(until)}`}${refused === undefined ? '' : ` # answers ${refused}`}`;
}
