// The documentation under /docs: a start page, guides, a page for each module and capability, errors and events.
import { nearest } from '../../../lib/nearest.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { guidePages } from '../guides/guide-pages.ts';
import { guides } from '../guides/guides.ts';
import type { SurfaceOptions } from '../openapi/openapi.ts';
import { capabilityPage } from './capability.ts';
import { errorDocs } from './errors.ts';
import { eventDocs } from './events.ts';
import { moduleDocs } from './modules.ts';
import { type Block, type DocsPage, h1, h2, prose } from './page.ts';
import { startPage } from './start.ts';

/** Path to what makes the page, for every page. */
export function docsPages(manifest: Manifest, { baseUrl }: SurfaceOptions): Map<string, () => DocsPage> {
  return new Map([
    ['/docs', () => startPage(manifest, baseUrl)],
    ...guidePages(manifest, baseUrl),
    ...moduleDocs(manifest),
    ...manifest.capabilities.map((capability): [string, () => DocsPage] => [
      `/docs/capabilities/${capability.id}`,
      () => capabilityPage(manifest, capability, baseUrl),
    ]),
    ...errorDocs(manifest),
    ...eventDocs(manifest),
  ]);
}

const sections: Readonly<Record<string, string>> = { errors: 'All error codes', events: 'All event types' };

/** What browsers get in place of a page that does not exist: where they are, and what is near. */
export function missingPage({ problems, byId, events, modules }: Manifest, path: string): DocsPage {
  const [section = '', name = ''] = path.slice('/docs/'.length).split('/');
  const ids: Readonly<Record<string, readonly string[]>> = {
    errors: Object.keys(problems),
    capabilities: [...byId.keys()],
    events: events.map(({ type }) => type),
    guides: guides.map((guide) => guide.name),
    modules: modules.map((module) => module.name),
  };
  const known = Object.hasOwn(ids, section) ? (ids[section] ?? []) : [];
  const near = nearest(section === 'errors' ? name.toUpperCase() : name, known, 3);
  const links = near.map((id) => ({ text: id, to: `/docs/${section}/${id}` }));
  const up = Object.hasOwn(sections, section)
    ? { text: sections[section] ?? '', to: `/docs/${section}` }
    : { text: 'Documentation', to: '/docs' };
  const blocks: Block[] = [
    { kind: 'up', link: up },
    h1('Page not found'),
    prose('The documentation has no page at this address.'),
    ...(links.length === 0 ? [] : [h2('Did you mean'), { kind: 'links', links } satisfies Block]),
  ];
  return { title: 'Page not found', blocks };
}
