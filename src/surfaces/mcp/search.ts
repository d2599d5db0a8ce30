// Finds capabilities by words: of their ids, of what they say of themselves, and of their fields. Made at the first question.
import MiniSearch from 'minisearch';
import type { Capability } from '../../manifest/capability.ts';
import { type CapabilitySummary, summarizeCapability } from '../../manifest/describe.ts';
import type { Manifest } from '../../manifest/manifest.ts';

interface Indexed {
  readonly id: string;
  readonly words: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: string;
}

export class CapabilitySearch {
  readonly #manifest: Manifest;
  #index: MiniSearch<Indexed> | null = null;

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
  }

  /** The best first; without words all of them, in the order of the manifest. */
  find(query: string, isShown: (id: string) => boolean, limit: number): CapabilitySummary[] {
    const { byId, capabilities } = this.#manifest;
    const ids = query.trim() === '' ? capabilities.map(({ id }) => id) : this.#ranked(query);
    return ids
      .filter(isShown)
      .slice(0, limit)
      .map((id) => summarizeCapability(byId.get(id) as Capability, this.#manifest));
  }

  #ranked(query: string): string[] {
    this.#index ??= indexOf(this.#manifest.capabilities);
    return this.#index.search(query).map(({ id }) => id as string);
  }
}

function indexOf(capabilities: readonly Capability[]): MiniSearch<Indexed> {
  const index = new MiniSearch<Indexed>({
    fields: ['words', 'summary', 'description', 'fields'],
    searchOptions: {
      boost: { words: 4, summary: 2, fields: 0.5 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(
    capabilities.map(({ id, summary, description, input }) => ({
      ...{ id, summary, description },
      words: id.replaceAll(/[._]/g, ' '),
      fields: Object.keys(input.properties).join(' ').replaceAll('_', ' '),
    })),
  );
  return index;
}
