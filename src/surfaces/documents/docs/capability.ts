// The documentation page of one capability: what it does, how to call it, what it answers, what can go wrong.
import { moduleOf } from '../../../core/scopes.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { Capability } from '../../../manifest/capability.ts';
import { descriptionOf, limitsOf, summarizeCapability } from '../../../manifest/describe.ts';
import { failureCodes } from '../../../manifest/failures.ts';
import { asJsonSchema, fieldsWithin } from '../../../manifest/json-schema.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { problemOf } from '../../../manifest/offer.ts';
import { curlOfExample } from '../curl.ts';
import { fieldsOf, typeInWords } from '../fields.ts';
import { priceInWords } from '../price-in-words.ts';
import { inline, linkRoot, page, prose, table } from './page.ts';

export function capabilityPage(manifest: Manifest, capability: Capability, baseUrl: string): string {
  const root = linkRoot(baseUrl);
  const module = moduleOf(capability.id);
  const content = html`<p class="quiet"><a href="${root}/docs#${module}">${module}</a></p>
<h1>${capability.id}</h1>
<p class="route"><code>${capability.method} ${capability.path}</code></p>
${prose(descriptionOf(capability, manifest.deployment))}
${traits(manifest, capability)}
${request(capability)}
${examples(manifest, capability, baseUrl)}
${answer(capability)}
${limits(capability)}
${events(capability, root)}
${errors(manifest, capability, root)}`;
  return page(root, capability.id, content);
}

function traits(manifest: Manifest, capability: Capability): Html {
  const summary = summarizeCapability(capability, manifest);
  const rows: [string, string][] = [
    ['Price', priceInWords(summary.pricing)],
    ['Scope', summary.scope],
    ['Idempotency key', capability.idempotent ? 'taken; kept for 24 hours at least' : 'not taken'],
    ['Status', summary.status],
    ['Region', summary.regions.join(', ')],
  ];
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function request(capability: Capability): Html {
  const fields = fieldsOf(capability);
  if (fields.length === 0) return html`<h2>Request</h2>\n<p>No fields.</p>`;
  const rows = fields.map((field) => [
    html`<code>${field.name}</code>`,
    field.in,
    field.type,
    field.required
      ? 'required'
      : field.default === undefined
        ? 'optional'
        : html`default <code>${field.default}</code>`,
    html`${inline(field.description)}`,
  ]);
  return html`<h2>Request</h2>\n${table(['Field', 'In', 'Type', 'Presence', 'Meaning'], rows)}`;
}

function examples(manifest: Manifest, capability: Capability, baseUrl: string): Html {
  const each = capability.examples.map(
    (example) =>
      html`<h3>${example.title}</h3>\n<pre><code>${curlOfExample(manifest, capability, example, baseUrl)}</code></pre>\n`,
  );
  return html`<h2>Examples</h2>\n${each}`;
}

function answer(capability: Capability): Html {
  const fields = fieldsWithin(asJsonSchema(capability.output));
  if (fields.length === 0) return html``;
  const rows = fields.map(({ path, schema, required }) => [
    html`<code>${path}</code>`,
    typeInWords(schema),
    required ? 'always' : 'may be absent',
    html`${inline(schema.description ?? '')}`,
  ]);
  return html`<h2>Answer: data</h2>\n${table(['Field', 'Type', 'Presence', 'Meaning'], rows)}`;
}

function limits(capability: Capability): Html {
  const entries = Object.entries(limitsOf(capability));
  if (entries.length === 0) return html``;
  return html`<h2>Limits</h2>\n${table(
    ['Limit', 'Rule'],
    entries.map(([name, sentence]) => [name, html`${inline(sentence)}`]),
  )}`;
}

function events(capability: Capability, root: string): Html {
  if (capability.events.length === 0) return html``;
  const items = capability.events.map(
    (type) => html`<li><a href="${root}/docs/events/${type}"><code>${type}</code></a></li>\n`,
  );
  return html`<h2>Events</h2>\n<ul>\n${items}</ul>`;
}

function errors(manifest: Manifest, capability: Capability, root: string): Html {
  const rows = failureCodes(capability).map((code) => {
    const { status, title } = problemOf(manifest, code);
    return [html`<a href="${root}/docs/errors/${code}">${code}</a>`, String(status), html`${inline(title)}`];
  });
  return html`<h2>Errors</h2>\n${table(['Code', 'Status', 'Meaning'], rows)}`;
}
