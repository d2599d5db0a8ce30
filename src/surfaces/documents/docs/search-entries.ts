// Entries of the documentation search: sections of guides, capabilities, error codes and event types. The browser builds its index
// from them.
import type { Token, Tokens } from 'marked';
import type { Manifest } from '../../../manifest/manifest.ts';
import { shownModules } from '../../../manifest/parts.ts';
import { fieldsOf } from '../fields.ts';
import { writtenTokens } from '../guides/guide-pages.ts';
import { type Guide, guides } from '../guides/guides.ts';
import { anchorOf } from './blocks-html.ts';

export interface SearchEntry {
  /** Where it stands, from the root of the service. */
  readonly id: string;
  readonly title: string;
  /** What it is, and where. */
  readonly kind: string;
  /** What people type to find it, beside the title. */
  readonly words: string;
  readonly text: string;
  /** Guides answer questions; pages of reference are for who knows the name. */
  readonly weight: number;
}

const weights = { guide: 2.5, section: 1.6, module: 1, capability: 1, error: 0.8, event: 0.5 } as const;

/** Synonyms that a guide gives below a heading, which no reader sees: `<!-- keywords: GDPR, erase -->`. */
const KEYWORDS = /<!-- keywords: ([^>]*) -->/;

export function searchEntries(manifest: Manifest): SearchEntry[] {
  return [
    {
      id: '/docs',
      title: 'Quick start',
      kind: 'Start',
      words: 'first call key address',
      text: '',
      weight: weights.guide,
    },
    ...guides.flatMap(sectionsOf),
    ...shownModules(manifest).map(({ name, summary }) => ({
      id: `/docs/modules/${name}`,
      title: name,
      kind: 'Module',
      words: '',
      text: summary,
      weight: weights.module,
    })),
    ...manifest.capabilities.map((capability) => ({
      id: `/docs/capabilities/${capability.id}`,
      title: capability.id,
      kind: `Capability: ${capability.summary}`,
      words: [capability.path, ...(capability.keywords ?? [])].join(' '),
      text: `${capability.description} ${fieldsOf(capability)
        .map(({ name }) => name)
        .join(' ')}`,
      weight: weights.capability,
    })),
    ...Object.entries(manifest.problems).map(([code, { title, advice }]) => ({
      id: `/docs/errors/${code}`,
      title: code,
      kind: `Error: ${title}`,
      words: title,
      text: advice,
      weight: weights.error,
    })),
    ...manifest.events.map(({ type, summary }) => ({
      id: `/docs/events/${type}`,
      title: type,
      kind: `Event: ${summary}`,
      words: '',
      text: summary,
      weight: weights.event,
    })),
  ];
}

function sectionsOf(guide: Guide): SearchEntry[] {
  const page = `/docs/guides/${guide.name}`;
  const sections: SearchEntry[] = [];
  let section: { -readonly [Member in keyof SearchEntry]: SearchEntry[Member] } = {
    id: page,
    title: guide.title,
    kind: 'Guide',
    words: guide.summary,
    text: '',
    weight: weights.guide,
  };
  for (const token of writtenTokens(guide)) {
    const keywords = token.type === 'html' ? KEYWORDS.exec(token.raw)?.[1] : undefined;
    if (keywords !== undefined) section.words += ` ${keywords}`;
    if (token.type !== 'heading' || (token as Tokens.Heading).depth !== 2) {
      section.text += ` ${textOf(token)}`;
      continue;
    }
    sections.push(section);
    const { text } = token as Tokens.Heading;
    section = {
      id: `${page}#${anchorOf(text)}`,
      title: text,
      kind: `Guide: ${guide.title}`,
      words: guide.title,
      text: '',
      weight: weights.section,
    };
  }
  return [...sections, section];
}

/** Words of prose, lists and tables; no programs. */
function textOf(token: Token): string {
  if (token.type === 'code' || token.type === 'space' || token.type === 'html') return '';
  return token.raw
    .replaceAll(/\]\([^)]*\)/g, ' ')
    .replaceAll(/[`*|#[\]_-]+/g, ' ')
    .replaceAll(/\s+/g, ' ');
}
