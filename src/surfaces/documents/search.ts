// Full-text search of capabilities: over their ids, keywords, descriptions and fields. One index per manifest, built at the first query,
// serves discovery and MCP.
import type MiniSearch from 'minisearch';
import type { Capability } from '../../kit/capability.ts';
import { pricingOf } from '../../manifest/describe.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { plannedModules, plannedWords } from '../../manifest/planned/modules.ts';
import { type StreamDescription, streamsOf } from '../../manifest/streams.ts';
import { priceInWords } from './price-in-words.ts';

/** Characters of a query that are looked at, and words: each is compared with all words of the index. */
export const QUERY_CHARACTERS_MAX = 500;
const QUERY_WORDS_MAX = 32;
const WORD_CHARACTERS_MAX = 32;

/** They stand in most questions, and say nothing of what is looked for. */
const STOP_WORDS = new Set(
  (
    'a about an and any are as at be been by can could did do does for from get give has have how i if in into is it its just let like me my need of on one or our out put ' +
    'please see should show so some something tell than that the their them then there these they this those to too us want was we were what when where who will with would you your'
  ).split(' '),
);

/** Words of users for one thing: the first of each line stands for all of it, in questions as well as in what capabilities say. */
const SYNONYMS = new Map(
  [
    'store save keep remember persist',
    'job task work',
    'error bug exception crash issue fault',
    'delete remove erase drop rid',
    'create make new',
    'update change edit modify adjust',
    'credit money funds',
    'video video movie clip',
    'receive fetch pull take',
    'cancel stop abort',
    'similar nearest alike meaning semantic',
    'finish done complete ready',
    'often frequent most',
    'retry again resend repeat replay',
  ].flatMap((line) => line.split(' ').map((word) => [stemOf(word), stemOf(line.split(' ', 1)[0] as string)])),
);

/** What of a capability is enough to choose it. */
export interface CapabilityBrief {
  readonly id: string;
  readonly summary: string;
  readonly price: string;
  /** Of what answers as it happens, as Server-Sent Events. */
  readonly stream?: true;
}

interface Indexed {
  readonly id: string;
  readonly words: string;
  readonly keywords: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: string;
}

/** Leads the ids of modules that are planned. */
const MODULE = 'module ';

const indexes = new WeakMap<Manifest, Promise<MiniSearch<Indexed>>>();

/** Capabilities and streams of `isShown`, the best first; of a query without words all of them, in the order of the manifest. */
export async function findCapabilities(
  manifest: Manifest,
  query: string,
  isShown: (found: Capability | StreamDescription) => boolean,
): Promise<(Capability | StreamDescription)[]> {
  const all = [...manifest.capabilities, ...streamsOf(manifest.modules)];
  if (query.trim() === '') return all.filter(isShown);
  const byId = new Map(all.map((each) => [each.id, each]));
  const found = (await rankedIds(manifest, query)).map((id) => byId.get(id));
  return found.filter((each) => each !== undefined).filter(isShown);
}

export function isStream(found: Capability | StreamDescription): found is StreamDescription {
  return 'event' in found;
}

/** The planned modules that a query fits better than any capability: what it asks for is not here. */
export async function findPlanned(manifest: Manifest, query: string): Promise<string[]> {
  if (query.trim() === '') return [];
  const found = await rankedIds(manifest, query);
  const end = found.findIndex((id) => !id.startsWith(MODULE));
  return found.slice(0, end < 0 ? found.length : end).map((id) => id.slice(MODULE.length));
}

export function briefOf(found: Capability | StreamDescription, { prices }: Manifest): CapabilityBrief {
  const { id, summary } = found;
  if (isStream(found)) return { id, summary, price: 'free', stream: true };
  return { id, summary, price: priceInWords(pricingOf(found, prices)) };
}

async function rankedIds(manifest: Manifest, query: string): Promise<string[]> {
  const index = indexes.get(manifest) ?? indexOf(manifest);
  indexes.set(manifest, index);
  const found = (await index).search(query.slice(0, QUERY_CHARACTERS_MAX));
  // Of two words both once says more than one of them twice.
  const weighed = found.map(({ id, score, queryTerms }) => ({ id: id as string, score: score * queryTerms.length }));
  return weighed.sort((one, other) => other.score - one.score).map(({ id }) => id);
}

async function indexOf({ capabilities, modules }: Manifest): Promise<MiniSearch<Indexed>> {
  const { default: Search } = await import('minisearch');
  const tokenize = Search.getDefault('tokenize') as (text: string) => string[];
  const index = new Search<Indexed>({
    fields: ['words', 'keywords', 'summary', 'description', 'fields'],
    processTerm: (term) => wordOf(term),
    tokenize: (text) => tokenize(withoutHyphen(text)),
    searchOptions: {
      tokenize: (text) => [...new Set(tokenize(withoutHyphen(text)))].slice(0, QUERY_WORDS_MAX),
      boost: { words: 4, keywords: 3, summary: 2, fields: 0.5 },
      prefix: (term) => term.length > 2,
      weights: { prefix: 0.3, fuzzy: 0.2 },
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      maxFuzzy: 2,
    },
  });
  index.addAll(
    capabilities.map(({ id, summary, description, input, keywords = [] }) => ({
      id,
      summary,
      description,
      words: id.replaceAll(/[._]/g, ' '),
      keywords: keywords.join(', '),
      fields: Object.keys(input.properties).join(' ').replaceAll('_', ' '),
    })),
  );
  index.addAll(
    streamsOf(modules).map(({ id, summary, event, query_schema }) => ({
      id,
      summary,
      description: event,
      words: id.replaceAll(/[._]/g, ' '),
      keywords: 'stream, follow live, server-sent events, sse, tail',
      fields: Object.keys(query_schema.properties ?? {})
        .join(' ')
        .replaceAll('_', ' '),
    })),
  );
  index.addAll(
    [...plannedModules(modules)].map((name) => ({
      id: MODULE + name,
      words: name,
      keywords: plannedWords[name] ?? '',
      summary: '',
      description: '',
      fields: '',
    })),
  );
  return index;
}

const withoutHyphen = (text: string) => text.replaceAll(/e-mail/gi, 'email');

function wordOf(term: string): string | null {
  const word = term.toLowerCase().slice(0, WORD_CHARACTERS_MAX);
  if (STOP_WORDS.has(word)) return null;
  const stem = stemOf(word);
  return SYNONYMS.get(stem) ?? stem;
}

/** Without the endings of English plurals and verbs; equal for forms of one word is enough, a word it need not be. */
function stemOf(word: string): string {
  const singular = word.replace(/(?<=[a-z]{2})ies$/, 'y').replace(/(?<=[a-z]{2}[^s])s$/, '');
  const base = singular.replace(/(?<=[a-z]{3})(?:ing|ed)$/, '');
  const single = base === singular ? base : base.replace(/([^aeioul])\1$/, '$1');
  return single.length > 3 ? single.replace(/e$/, '') : single;
}
