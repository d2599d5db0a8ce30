// The documentation pages of modules: a summary, guides, and capabilities with their prices.
import type { Module } from '../../../kit/module.ts';
import { pricingOf } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { shownModules } from '../../../manifest/parts.ts';
import { guideOf } from '../guides/guides.ts';
import { priceInWords } from '../price-in-words.ts';
import { type Block, code, type DocsPage, h1, h2, prose } from './page.ts';

/** Path to what makes the page. */
export function moduleDocs(manifest: Manifest): [string, () => DocsPage][] {
  return shownModules(manifest).map((module) => [`/docs/modules/${module.name}`, () => modulePage(manifest, module)]);
}

function modulePage(manifest: Manifest, module: Module): DocsPage {
  const guides = new Set(module.capabilities.map(({ id }) => guideOf(id)).filter((guide) => guide !== undefined));
  const links = [...guides].map(({ title, name }) => ({ text: title, to: `/docs/guides/${name}` }));
  const rows = module.capabilities.map((capability) => ({
    name: { text: capability.id, to: `/docs/capabilities/${capability.id}`, isCode: true },
    facts: [code(`${capability.method} ${capability.path}`), priceInWords(pricingOf(capability, manifest.prices))],
    text: capability.summary,
  }));
  const blocks: Block[] = [
    h1(module.name),
    prose(module.summary),
    ...(links.length === 0 ? [] : [h2('Guides'), { kind: 'links', links } satisfies Block]),
    h2('Capabilities'),
    { kind: 'entries', rows },
  ];
  return { title: module.name, blocks };
}
