// /llms.txt: the service on one page for a language model (https://llmstxt.org): how to call it, its modules, links.
// /llms-full.txt: the same with the documents of all modules. When space runs out, verbs are cut first.
import { signingRecipe } from '../../../core/outbound/signature.ts';
import { sourcesInWords, targetsInWords } from '../../../kit/deployment.ts';
import type { Module } from '../../../kit/module.ts';
import { commonFailures } from '../../../manifest/failures.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { partsOf, shownModules } from '../../../manifest/parts.ts';
import { plannedModules } from '../../../manifest/planned/modules.ts';
import { guides } from '../guides/guides.ts';
import type { SurfaceOptions } from '../openapi/openapi.ts';
import { shorten } from '../shorten.ts';
import { clientsInWords, renderModule } from './module.ts';
import { fitting, llmsTokensMax, SIZE, tokensOf } from './sized.ts';

interface Level {
  /** Characters of a module's summary, and of its verbs. */
  readonly summary: number;
  readonly verbs: number;
  /** Clients by their names alone: their addresses stand in the document of the module. */
  readonly isBrief?: boolean;
}

const levels: readonly Level[] = [
  { summary: 300, verbs: 600 },
  { summary: 200, verbs: 300 },
  { summary: 120, verbs: 150 },
  { summary: 90, verbs: 80 },
  { summary: 60, verbs: 76 },
  { summary: 80, verbs: 40 },
  { summary: 50, verbs: 40, isBrief: true },
  { summary: 30, verbs: 40, isBrief: true },
  { summary: 24, verbs: 24, isBrief: true },
  { summary: 50, verbs: 0, isBrief: true },
];

/** Markdown text. */
export function renderLlms(manifest: Manifest, { baseUrl }: SurfaceOptions): string {
  return llmsOf(manifest, baseUrl, textsOf(manifest, baseUrl));
}

/** The documents of all modules that are shown. */
function textsOf(manifest: Manifest, baseUrl: string): ReadonlyMap<Module, readonly ModuleText[]> {
  const textOf = (of: Module) => ({ name: of.name, text: renderModule(manifest, of, baseUrl) });
  return new Map(shownModules(manifest).map((module) => [module, partsOf(module).map(textOf)]));
}

interface ModuleText {
  readonly name: string;
  readonly text: string;
}

function llmsOf(manifest: Manifest, baseUrl: string, texts: ReadonlyMap<Module, readonly ModuleText[]>): string {
  const shown = [...texts].map(([module, [own, ...parts]]) => ({
    module,
    tokens: tokensOf(own?.text ?? ''),
    parts: parts.map(({ name, text }) => ` Part of it: ${name} (${tokensOf(text)} tokens).`).join(''),
  }));
  return fitting(levels, llmsTokensMax, (level) =>
    [
      preface(manifest, baseUrl),
      ...shown.map(({ module, tokens, parts }) => `${moduleLine(module, tokens, level)}${parts}`),
      '',
      further(baseUrl),
    ].join('\n'),
  );
}

/** Markdown text: everything, however long. */
export function renderLlmsFull(manifest: Manifest, { baseUrl }: SurfaceOptions): string {
  const texts = textsOf(manifest, baseUrl);
  return fitting([null], 0, () =>
    [
      `> Everything in one document of ${SIZE} tokens: /llms.txt, then the document of each module.`,
      llmsOf(manifest, baseUrl, texts),
      ...[...texts.values()].flat().map(({ text }) => text),
    ].join('\n\n'),
  );
}

function preface(manifest: Manifest, baseUrl: string): string {
  const planned = [...plannedModules(manifest.modules)];
  const notHere =
    planned.length === 0
      ? []
      : [`- Planned, not available here: ${planned.join(', ')}. Their paths answer 404, \`code_detail\` \`planned\`.`];
  return [
    `# Quartermaster

> Online infrastructure for software agents over HTTPS and JSON: one bearer key, one prepaid wallet, one bill. No client library is needed. This page takes ${SIZE} tokens.

## Call

\`\`\`sh
curl -sS ${baseUrl}/v1/queue/publish -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '{"queue":"jobs","payload":{"n":1}}'
\`\`\`

- A missing or invalid key is 401, a missing scope 403. Give each program a key with the least it needs; a scope is \`*\`, a module, \`module:read\`, \`module:write\`, \`module:admin\` or a capability id (POST /v1/account/keys/create with \`{"name":"producer","scopes":["queue.publish"]}\`).
- Answers: \`{"ok":true,"data":…,"metadata":…}\` or \`{"ok":false,"error":{"code","message","docs_url","retryable","param"?,"retry_after_ms"?},"metadata":…}\`. Branch on \`error.code\`; \`error.param\` names the field at fault; GET \`error.docs_url\` + \`.md\` says what to do.
- Money: \`metadata.cost_usd\` is what a call cost. What wallet or budget cannot cover is 402 INSUFFICIENT_CREDIT, without any effect.
- 403 APPROVAL_REQUIRED: a person decides first, and nothing was done. GET \`error.approval.wait_url\`, then repeat the same call.
- Retries: writes take \`idempotency_key\` (body, or header Idempotency-Key). The same key and request give the first result again, done and charged once. Retry only when \`error.retryable\`, after \`retry_after_ms\`.
- Any call may answer ${commonFailures.join(', ')}; discovery and the pages below tell what else one may.
- Lists: \`items\`, \`next_cursor\`, \`has_more\`; send \`cursor\` and \`limit\` (1-100, else 20). Many in one call: \`items\` in, \`items\` out in the same order. Filters: \`filter\` is an object of fields and values, in a query \`filter[field]=value\` or \`filter.field=value\`.
- Moments end in \`_at\`: RFC 3339 with Z. A span of time is \`from\`, \`to\` (not included). How long a thing lives: \`expires_seconds\`; how long a call waits: \`wait_seconds\`, \`timeout_seconds\`.
- Bytes in JSON: \`content\` (text) or \`content_base64\`, \`content_type\`, \`filename\`. A source of bytes is {url}, {content_base64} or {bucket, key}.
- Streams (\`stream: true\` in discovery) answer Server-Sent Events as they happen. Vendor \`sandbox\` and \`captured: true\` mean: nothing real happened; \`metadata.warnings\` names the setting that changes that.
- A field that the call does not know is 400, \`code_detail\` \`unknown_field\`; \`did_you_mean\` names the nearest.
- Events are POSTed to webhooks (account.webhooks.register). ${signingRecipe}
- ${[targetsInWords(manifest.deployment), sourcesInWords(manifest.deployment)].filter((text) => text !== null).join(' ')} Rates ${manifest.deployment.rateLimits ? 'of free calls: GET /v1/account/tier' : 'are not limited here'}.`,
    ...notHere,
    `
## Find

- GET /v1/discovery?q=delay+a+message&view=brief&limit=3: what fits your task, the best first. ${baseUrl}/docs/capabilities/{capability}.md: one of them on a page; GET /v1/discovery/{capability}: the same as data.
- ${baseUrl}/llms/{module}.txt: the calls of a module below with fields and prices, worked examples, limits, errors, and addresses of clients.
- ${baseUrl}/mcp: the same as tools of MCP, same key.

## Modules
`,
  ].join('\n');
}

function moduleLine(module: Module, tokens: string, { summary, verbs, isBrief }: Level): string {
  const named = verbs === 0 ? '' : ` Calls: ${shorten(verbsOf(module), verbs)}.`;
  return `- ${module.name} (${tokens} tokens): ${shorten(module.summary, summary)}${named}${clientsInWords(module, isBrief)}`;
}

/** Names of its capabilities without its own: `create, get, dlq.{list,redrive}`; what costs money is what it is for, and is cut last. */
function verbsOf({ name, capabilities }: Module): string {
  const first = capabilities.filter(({ price }) => price !== 'free');
  const verbs = [...new Set([...first, ...capabilities])].map(({ id }) =>
    id === name ? name : id.slice(name.length + 1),
  );
  const rooms = Map.groupBy(verbs, (verb) => verb.slice(0, Math.max(verb.lastIndexOf('.'), 0)));
  return [...rooms]
    .map(([room, within]) => {
      const last = within.map((verb) => (room === '' ? verb : verb.slice(room.length + 1)));
      if (room === '') return last.join(', ');
      return last.length === 1 ? `${room}.${last[0]}` : `${room}.{${last.join(',')}}`;
    })
    .join(', ');
}

function further(baseUrl: string): string {
  return `## More

- [All of it](${baseUrl}/llms-full.txt) in one document
- [OpenAPI 3.1](${baseUrl}/v1/openapi.json); of some modules: \`?module=queue,vector\`
- [Manifest](${baseUrl}/.well-known/quartermaster.json): the same as data
- [Documentation](${baseUrl}/docs.md): a page for every capability, error code and [event type](${baseUrl}/docs/events.md); \`.md\` is markdown
- Guides, ${baseUrl}/docs/guides/{name}.md: ${guides
    .filter(({ group }) => group === 'Build' || group === 'Connect')
    .map(({ name }) => name)
    .join(', ')}
- To run this service yourself: ${baseUrl}/docs/guides/self-hosting.md
`;
}
