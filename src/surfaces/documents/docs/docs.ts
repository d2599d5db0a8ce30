// The documentation under /docs: an index, one page per capability, one per error code, the events.

import type { Module } from '../../../kit/module.ts';
import { nearest } from '../../../lib/nearest.ts';
import { pricingOf } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import type { ProblemEntry } from '../../../problems/catalogue.ts';
import type { SurfaceOptions } from '../openapi/openapi.ts';
import { priceInWords } from '../price-in-words.ts';
import { capabilityPage } from './capability.ts';
import { eventDocs } from './events.ts';
import { type Block, code, type DocsPage, h1, h2, prose } from './page.ts';

/** Path to what makes the page, for every page. */
export function docsPages(manifest: Manifest, { baseUrl }: SurfaceOptions): Map<string, () => DocsPage> {
  return new Map([
    ['/docs', () => indexPage(manifest, baseUrl)],
    ['/docs/errors', () => errorsPage(manifest)],
    ...eventDocs(manifest),
    ...manifest.capabilities.map((capability): [string, () => DocsPage] => [
      `/docs/capabilities/${capability.id}`,
      () => capabilityPage(manifest, capability, baseUrl),
    ]),
    ...Object.entries(manifest.problems).map(([failure, entry]): [string, () => DocsPage] => [
      `/docs/errors/${failure}`,
      () => errorPage(manifest, failure, entry),
    ]),
  ]);
}

/** What browsers get in place of a page that does not exist: where they are, and what is near. */
export function missingPage({ problems, byId, events }: Manifest, path: string): DocsPage {
  const [section = '', name = ''] = path.slice('/docs/'.length).split('/');
  const ids: Readonly<Record<string, readonly string[]>> = {
    errors: Object.keys(problems),
    capabilities: [...byId.keys()],
    events: events.map(({ type }) => type),
  };
  const near = nearest(section === 'errors' ? name.toUpperCase() : name, ids[section] ?? [], 3);
  const up = section === 'errors' || section === 'events' ? `/docs/${section}` : '/docs';
  const links = near.map((id) => ({ text: id, to: `/docs/${section}/${id}` }));
  const blocks: Block[] = [
    { kind: 'up', link: { text: up === '/docs' ? 'Documentation' : `All ${section}`, to: up } },
    h1('Page not found'),
    prose('The documentation has no page at this address.'),
    ...(links.length === 0 ? [] : [h2('Did you mean'), { kind: 'links', links } satisfies Block]),
  ];
  return { title: 'Page not found', blocks };
}

function indexPage(manifest: Manifest, baseUrl: string): DocsPage {
  const modules = manifest.modules.filter((module) => module.capabilities.length > 0);
  const blocks: Block[] = [
    h1('Infrastructure for software agents'),
    prose(
      'One HTTPS and JSON interface behind one bearer key, one prepaid wallet and one bill. Every answer is an envelope: `ok`, `data` or `error`, and `metadata` with cost, latency and the request id. ' +
        'Writes take an idempotency key, so every retry is safe. Each page ends in `.md` for agents.',
    ),
    h2('First call'),
    {
      kind: 'code',
      language: 'sh',
      text: `curl -sS '${baseUrl}/v1/discovery' \\\n  -H "Authorization: Bearer $QM_KEY"`,
    },
    ...modules.flatMap((module) => moduleSection(manifest, module)),
  ];
  return { title: 'Documentation', blocks };
}

function moduleSection(manifest: Manifest, module: Module): Block[] {
  const rows = module.capabilities.map((capability) => [
    { text: capability.id, to: `/docs/capabilities/${capability.id}` },
    code(`${capability.method} ${capability.path}`),
    priceInWords(pricingOf(capability, manifest.prices)),
    capability.summary,
  ]);
  const heads = ['Capability', 'Call', 'Price', 'What it does'];
  return [h2(module.name, module.name), prose(module.summary), { kind: 'table', heads, rows }];
}

function errorsPage({ problems }: Manifest): DocsPage {
  const rows = Object.entries(problems).map(([failure, { status, retryable, title }]) => [
    { text: failure, to: `/docs/errors/${failure}` },
    String(status),
    retryable ? 'yes' : 'no',
    title,
  ]);
  const intro =
    'A failed call answers `{ "ok": false, "error": {…}, "metadata": {…} }`. Branch on `error.code`; codes are never renamed. `error.param` names the field at fault, `error.request_id` identifies the call.';
  const heads = ['Code', 'Status', 'Retry may succeed', 'Meaning'];
  return { title: 'Error codes', blocks: [h1('Error codes'), prose(intro), { kind: 'table', heads, rows }] };
}

function errorPage(manifest: Manifest, failure: string, entry: ProblemEntry): DocsPage {
  const links = manifest.capabilities
    .filter((capability) => capability.errors.includes(failure))
    .map(({ id }) => ({ text: id, to: `/docs/capabilities/${id}` }));
  const retry = entry.retryable
    ? 'May succeed later; wait for Retry-After or retry_after_ms when sent.'
    : 'The same call will fail again.';
  const terms = [
    ['HTTP status', String(entry.status)],
    ['Retry', retry],
  ] as const;
  const blocks: Block[] = [
    { kind: 'up', link: { text: 'Error codes', to: '/docs/errors' } },
    h1(failure),
    prose(entry.title),
    { kind: 'terms', rows: terms },
    h2('What to do'),
    prose(entry.advice),
    ...(links.length === 0 ? [] : [h2('Where it occurs'), { kind: 'links', links } satisfies Block]),
  ];
  return { title: failure, blocks };
}
