// Finds capabilities by words: of their ids, of their keywords, of what they say of themselves, and of their fields. One index of a
// manifest, made at the first question, serves discovery and MCP.
import MiniSearch from 'minisearch';
import type { Capability } from '../../manifest/capability.ts';
import { pricingOf } from '../../manifest/describe.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { priceInWords } from './price-in-words.ts';

/** Characters of a query that are looked at, and words: each is compared with all words of the index. */
export const QUERY_CHARACTERS_MAX = 500;
const QUERY_WORDS_MAX = 32;
const WORD_CHARACTERS_MAX = 32;

/** They stand in most questions, and say nothing of what is looked for. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from has have how i if in into is it its me my of on or so that the their them there they this to was what when where which who will with you your'.split(
    ' ',
  ),
);

/** What of a capability is enough to choose it. */
export interface CapabilityBrief {
  readonly id: string;
  readonly summary: string;
  readonly price: string;
}

interface Indexed {
  readonly id: string;
  readonly words: string;
  readonly keywords: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: string;
}

const indexes = new WeakMap<Manifest, MiniSearch<Indexed>>();

/** Capabilities of `isShown`, the best first; of a query without words all of them, in the order of the manifest. */
export function findCapabilities(
  manifest: Manifest,
  query: string,
  isShown: (capability: Capability) => boolean,
): Capability[] {
  const { byId, capabilities } = manifest;
  const found = query.trim() === '' ? capabilities : ranked(manifest, query).map((id) => byId.get(id) as Capability);
  return found.filter(isShown);
}

export function briefOf(capability: Capability, { prices }: Manifest): CapabilityBrief {
  const { id, summary } = capability;
  return { id, summary, price: priceInWords(pricingOf(capability, prices)) };
}

function ranked(manifest: Manifest, query: string): string[] {
  const index = indexes.get(manifest) ?? indexOf(manifest.capabilities);
  indexes.set(manifest, index);
  return index.search(query.slice(0, QUERY_CHARACTERS_MAX)).map(({ id }) => id as string);
}

function indexOf(capabilities: readonly Capability[]): MiniSearch<Indexed> {
  const tokenize = MiniSearch.getDefault('tokenize') as (text: string) => string[];
  const index = new MiniSearch<Indexed>({
    fields: ['words', 'keywords', 'summary', 'description', 'fields'],
    processTerm: (term) => wordOf(term),
    searchOptions: {
      tokenize: (text) => [...new Set(tokenize(text))].slice(0, QUERY_WORDS_MAX),
      boost: { words: 4, keywords: 3, summary: 2, fields: 0.5 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      maxFuzzy: 2,
    },
  });
  index.addAll(
    capabilities.map(({ id, summary, description, input, keywords = [] }) => ({
      ...{ id, summary, description },
      words: id.replaceAll(/[._]/g, ' '),
      keywords: keywords.join(', '),
      fields: Object.keys(input.properties).join(' ').replaceAll('_', ' '),
    })),
  );
  return index;
}

function wordOf(term: string): string | null {
  const word = term.toLowerCase();
  return STOP_WORDS.has(word) ? null : word.slice(0, WORD_CHARACTERS_MAX);
}
