// The sidebar of each page: links to every other page, usable without scripts.
import { moduleOf } from '../../../core/callers/scopes.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { shownModules } from '../../../manifest/parts.ts';
import { guideGroups, guides } from '../guides/guides.ts';
import type { PageLink } from './page.ts';

export interface SidebarPart {
  readonly title: string;
  readonly links: readonly PageLink[];
  /** Parts that open and close. */
  readonly folds?: readonly SidebarFold[];
}

export interface SidebarFold {
  readonly title: string;
  readonly links: readonly PageLink[];
}

export function sidebarOf(manifest: Manifest): readonly SidebarPart[] {
  return [
    { title: 'Start', links: [{ text: 'Quick start', to: '/docs' }] },
    ...guideGroups.map((group) => ({
      title: group,
      links: guides
        .filter((guide) => guide.group === group)
        .map(({ title, name }) => ({ text: title, to: `/docs/guides/${name}` })),
    })),
    {
      title: 'Modules',
      links: [],
      folds: shownModules(manifest).map(({ name, capabilities }) => ({
        title: name,
        links: [
          { text: 'Overview', to: `/docs/modules/${name}` },
          ...capabilities.map(({ id }) => ({ text: shortName(id), to: `/docs/capabilities/${id}` })),
        ],
      })),
    },
    {
      title: 'Reference',
      links: [
        { text: 'Error codes', to: '/docs/errors' },
        { text: 'Event types', to: '/docs/events' },
      ],
    },
  ];
}

/** Without its module, whose part it stands in. */
function shortName(id: string): string {
  const module = moduleOf(id);
  return id === module ? id : id.slice(module.length + 1);
}
