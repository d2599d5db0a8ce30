// The documentation under /docs as complete HTML pages: an index, one page per capability, one per error code, the events.
import { type Html, html } from '../../../lib/html.ts';
import type { Capability } from '../../../manifest/capability.ts';
import { pricingOf } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import type { Module } from '../../../manifest/module.ts';
import type { ProblemEntry } from '../../../problems/catalogue.ts';
import type { SurfaceOptions } from '../openapi/openapi.ts';
import { priceInWords } from '../price-in-words.ts';
import { capabilityPage } from './capability.ts';
import { renderEventDocs } from './events.ts';
import { inline, linkRoot, page, prose, table } from './page.ts';

/** Path to what renders its HTML text, for every page. */
export function renderDocs(manifest: Manifest, { baseUrl }: SurfaceOptions): Map<string, () => string> {
  const root = linkRoot(baseUrl);
  const pages = new Map([
    ['/docs', () => indexPage(manifest, root, baseUrl)],
    ['/docs/errors', () => errorsPage(manifest, root)],
    ...renderEventDocs(manifest, { baseUrl }),
  ]);
  for (const capability of manifest.capabilities) {
    pages.set(`/docs/capabilities/${capability.id}`, () => capabilityPage(manifest, capability, baseUrl));
  }
  for (const [code, entry] of Object.entries(manifest.problems)) {
    pages.set(`/docs/errors/${code}`, () => errorPage(manifest, code, entry, root));
  }
  return pages;
}

function indexPage(manifest: Manifest, root: string, baseUrl: string): string {
  const modules = manifest.modules.filter((module) => module.capabilities.length > 0);
  const content = html`<h1>Infrastructure for software agents</h1>
${prose(
  'One HTTPS and JSON interface behind one bearer key, one prepaid wallet and one bill. Every answer is an envelope: `ok`, `data` or `error`, and `metadata` with cost, latency and the request id. ' +
    'Writes take an idempotency key, so every retry is safe.',
)}
<h2>First call</h2>
<pre><code>curl -sS '${baseUrl}/v1/discovery' \\
  -H "Authorization: Bearer $QM_KEY"</code></pre>
${modules.map((module) => moduleSection(manifest, module, root))}`;
  return page(root, 'Documentation', content);
}

function moduleSection(manifest: Manifest, module: Module, root: string): Html {
  const rows = module.capabilities.map((capability: Capability) => [
    html`<a href="${root}/docs/capabilities/${capability.id}">${capability.id}</a>`,
    html`<code>${capability.method} ${capability.path}</code>`,
    priceInWords(pricingOf(capability, manifest.prices)),
    html`${inline(capability.summary)}`,
  ]);
  return html`<h2 id="${module.name}">${module.name}</h2>
${prose(module.summary)}
${table(['Capability', 'Call', 'Price', 'What it does'], rows)}
`;
}

function errorsPage({ problems }: Manifest, root: string): string {
  const rows = Object.entries(problems).map(([code, { status, retryable, title }]) => [
    html`<a href="${root}/docs/errors/${code}">${code}</a>`,
    String(status),
    retryable ? 'yes' : 'no',
    html`${inline(title)}`,
  ]);
  const content = html`<h1>Error codes</h1>
${prose('A failed call answers `{ "ok": false, "error": {…}, "metadata": {…} }`. Branch on `error.code`; codes are never renamed. `error.param` names the field at fault, `error.request_id` identifies the call.')}
${table(['Code', 'Status', 'Retry may succeed', 'Meaning'], rows)}`;
  return page(root, 'Error codes', content);
}

function errorPage(manifest: Manifest, code: string, entry: ProblemEntry, root: string): string {
  const own = manifest.capabilities.filter((capability) => capability.errors.includes(code));
  const links = own.map(
    (capability) => html`<li><a href="${root}/docs/capabilities/${capability.id}">${capability.id}</a></li>\n`,
  );
  const content = html`<p class="quiet"><a href="${root}/docs/errors">Error codes</a></p>
<h1>${code}</h1>
<p>${inline(entry.title)}</p>
<dl><dt>HTTP status</dt><dd>${entry.status}</dd><dt>Retry</dt><dd>${entry.retryable ? 'May succeed later; wait for Retry-After or retry_after_ms when sent.' : 'The same call will fail again.'}</dd></dl>
<h2>What to do</h2>
${prose(entry.advice)}
${own.length === 0 ? '' : html`<h2>Where it occurs</h2>\n<ul>\n${links}</ul>`}`;
  return page(root, code, content);
}
