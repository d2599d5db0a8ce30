// How a module finds its objects by name or id.

import type { Callable, FoundObject, ItemOf, Visit } from './visit.ts';

/** Those beyond are not looked at. */
const LISTED_MAX = 100;
const FOUND_MAX = 20;

/** The objects of a list whose name or id holds the text. None where the visitor may not list them. Throws the Problem of a list that cannot be read. */
export async function foundIn<List extends Callable>(
  visit: Visit,
  list: List,
  text: string,
  of: (item: ItemOf<List>) => FoundObject & { readonly id: string },
): Promise<readonly FoundObject[]> {
  if (!visit.may(list)) return [];
  const { items } = (await visit.need(list, { limit: LISTED_MAX })) as { readonly items: readonly ItemOf<List>[] };
  const wanted = text.toLowerCase();
  const isLike = (words: string) => words.toLowerCase().includes(wanted);
  const found = items.map(of).filter(({ id, name }) => isLike(id) || isLike(name));
  return found.slice(0, FOUND_MAX);
}
