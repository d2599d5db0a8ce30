// Scopes that a person may grant a program out of those it asks for: a level for each module of this service, and single operations.
// Planned modules and operations are not offered: nobody can approve what does not exist.
import { type KnownScopes, levelsOf, liveModules, type ModuleLevels, scopesWithin } from '../../core/callers/scopes.ts';

export interface Offer {
  readonly modules: readonly ModuleLevels[];
  /** Ids of capabilities that no module offered above contains. */
  readonly operations: readonly string[];
}

/** @param held scopes of who gives; null: all */
export function offerOf(known: KnownScopes, asked: readonly string[], held: readonly string[] | null): Offer {
  const mayGive = (scope: string) => scopesWithin(known, [scope], asked) && scopesWithin(known, [scope], held);
  const modules = liveModules(known)
    .map((module) => ({ module, levels: levelsOf(module).filter(mayGive) }))
    .filter(({ levels }) => levels.length > 0);
  const widest = modules.map(({ levels }) => levels.at(-1) as string);
  const named = [...new Set([...asked, ...(held ?? [])])].filter((scope) => known.kinds.has(scope) && mayGive(scope));
  return { modules, operations: named.filter((scope) => !scopesWithin(known, [scope], widest)) };
}

/**
 * What is chosen before the person has chosen: what the program names, or only to read where it asks for every module there is, as one that
 * names nothing does.
 */
export function proposalOf(known: KnownScopes, { modules, operations }: Offer): readonly string[] {
  const asksForAll = modules.length === liveModules(known).length;
  return [...modules.map(({ levels }) => (asksForAll ? levels[0] : levels.at(-1)) as string), ...operations];
}
