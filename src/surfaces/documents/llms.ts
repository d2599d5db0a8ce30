// /llms.txt: the service on one page for a language model (https://llmstxt.org): how to call it, then one line per capability.

import { signingRecipe } from '../../core/outbound/signature.ts';
import { moduleOf } from '../../core/scopes.ts';
import type { Capability } from '../../manifest/capability.ts';
import { targetsInWords } from '../../manifest/deployment.ts';
import { pricingOf } from '../../manifest/describe.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import type { Module } from '../../manifest/module.ts';
import { plannedModules } from '../../manifest/planned/modules.ts';
import { type Field, fieldsOf } from './fields.ts';
import type { SurfaceOptions } from './openapi/openapi.ts';
import { priceInWords } from './price-in-words.ts';

/** Markdown text. */
export function renderLlms(manifest: Manifest, { baseUrl }: SurfaceOptions): string {
  const modules = manifest.modules.filter((module) => module.capabilities.length > 0);
  return [
    preface(manifest, baseUrl),
    ...modules.map((module) => renderModule(manifest, module, baseUrl)),
    further(baseUrl),
  ].join('\n\n');
}

/** What the page says of one module. */
export function renderModule(manifest: Manifest, { name, summary, capabilities }: Module, baseUrl: string): string {
  return [`## ${name}`, '', summary, '', ...capabilities.map((each) => line(manifest, each, baseUrl))].join('\n');
}

function preface(manifest: Manifest, baseUrl: string): string {
  const planned = [...new Set(plannedModules(manifest.modules).values())];
  return `# Quartermaster

> Online infrastructure for software agents over HTTPS and JSON: one bearer key, one prepaid wallet, one bill. No client library is needed.

## How to call it

- Address: every path below follows ${baseUrl}. Bodies are JSON objects in UTF-8 (Content-Type: application/json).
- Key: send \`Authorization: Bearer <API_KEY>\` with every call. A missing or invalid key is 401; a key without the needed scope is 403. Give each program a key of its own with the least it needs: a scope is \`*\`, a module, \`module:read\`, \`module:write\`, \`module:admin\` or one capability id (POST /v1/account/keys/create with \`{"name":"producer","scopes":["queue.publish"]}\`).
- Answers: \`{ "ok": true, "data": …, "metadata": … }\` or \`{ "ok": false, "error": { "code", "http_status", "message", "docs_url", "retryable", "param"?, "retry_after_ms"? }, "metadata": … }\`. Branch on \`error.code\`; \`error.param\` names the field at fault; \`error.docs_url\` says what to do.
- Money: the price stands with each capability below; the rest is free. \`metadata.cost_usd\` says what a call cost. When the wallet or the budget cannot cover a call it fails with 402 INSUFFICIENT_CREDIT and has no effect.
- Retries: capabilities marked \`key\` take \`idempotency_key\` (body field, Idempotency-Key header, or query of a DELETE). The same key with the same request returns the first result once more, without a second effect or charge (\`metadata.idempotent_replay\`). Retry only when \`error.retryable\` is true, after \`retry_after_ms\`.
- Lists: \`{ "items": […], "next_cursor": string | null, "has_more": boolean }\`; send \`cursor\` and \`limit\` (1-100, 20 when absent).
- Unknown fields are named in \`metadata.warnings\`; writes of module account refuse them.
- Events are POSTed to webhooks (account.webhooks.register), queue.subscribe and cron POST too, all signed alike. ${signingRecipe}
- ${targetsInWords(manifest.deployment)} Rates ${manifest.deployment.rateLimits ? 'of free calls: GET /v1/account/tier' : 'are not limited here'}.
- Planned, not available here: ${planned.join(', ')}. Their paths answer 404 CAPABILITY_NOT_FOUND, \`code_detail\` \`planned\`.

Each line: id, method and path, (price; scope; key), what it does, then its fields as \`name place type\`; \`*\` marks required ones and \`=\` the default. The full schema of one is at GET /v1/discovery/{capability}.`;
}

function line(manifest: Manifest, capability: Capability, baseUrl: string): string {
  const price = priceInWords(pricingOf(capability, manifest.prices));
  const traits = [
    price,
    `${moduleOf(capability.id)}:${capability.scope}`,
    ...(capability.idempotent ? ['key'] : []),
  ].join('; ');
  const fields = fieldsOf(capability).filter((field) => field.name !== 'idempotency_key');
  const listed = fields.length === 0 ? 'none' : fields.map(fieldInWords).join(', ');
  const link = `[${capability.id}](${baseUrl}/docs/capabilities/${capability.id})`;
  return `- ${link}: ${capability.method} ${capability.path} (${traits}). ${oneLine(capability.summary)} Fields: ${listed}.`;
}

function fieldInWords(field: Field): string {
  const fallback = field.default === undefined ? '' : ` =${field.default}`;
  return `${field.name}${field.required ? '*' : ''} ${field.in} ${oneLine(field.type)}${fallback}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function further(baseUrl: string): string {
  return `## More

- [OpenAPI 3.1 description](${baseUrl}/v1/openapi.json): every schema and response
- [Manifest](${baseUrl}/.well-known/quartermaster.json): the same as data, with prices, errors, events and examples
- [Documentation](${baseUrl}/docs): a page for every capability and every error code
- [Event types](${baseUrl}/docs/events): what a webhook may subscribe to, each with its payload (GET /v1/discovery/event/{type})
`;
}
