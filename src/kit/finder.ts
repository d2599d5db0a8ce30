// Finders of a module's objects by name or ID, for account.search and the console's command palette. They use the capability that lists the
// objects, so a key finds only what it may list.
import type { Callable, ItemOf } from './console/visit.ts';

export interface Found {
  readonly id: string;
  readonly name: string;
  /** Its page, below /console. */
  readonly path: string;
}

export interface Finder {
  /** What is found, in a word: `queue`. */
  readonly kind: string;
  /** The capability that lists them, page by page; with `byId` one that gets one. */
  readonly capability: string;
  of(item: unknown): Found;
  /** They are too many to be listed, and found by their whole id alone, which is sent as `field`. */
  readonly byId?: { readonly field: string; readonly pattern: RegExp };
  /** They are too many to be listed: what the list is narrowed by to find q; null: its pages are looked through. */
  searchOf?(q: string): Readonly<Record<string, unknown>> | null;
}

export function finder<List extends Callable>(
  kind: string,
  list: List,
  of: (item: ItemOf<List>) => Found,
  searchOf?: Finder['searchOf'],
): Finder {
  return { kind, capability: list.id, of: (item) => of(item as ItemOf<List>), ...(searchOf && { searchOf }) };
}
