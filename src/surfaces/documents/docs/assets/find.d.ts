// What find.js exports, for TypeScript outside this folder.
import type { SearchEntry } from '../search-entries.ts';

interface Found {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
}

interface Index {
  search(text: string): Found[];
  addAll(entries: readonly SearchEntry[]): void;
}

/** The index of minisearch. */
export function indexOf(MiniSearch: unknown, entries: readonly SearchEntry[]): Index;

/** The best first; what is named so comes before all. */
export function find(index: Index, text: string): Found[];
