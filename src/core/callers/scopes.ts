// Scopes: `*`, a module, `module:read|write|admin`, or a capability id (contract §2). module = admin ⊃ write ⊃ read.
// Module operator is in no null or `*` scope: a key has it, or parts of it, by name only.
import { nearest } from '../../lib/nearest.ts';
import { problem } from '../../problems/problem.ts';

export type ScopeKind = 'read' | 'write' | 'admin';

/** Every scope that can be granted: the modules, built or only planned, and the capabilities with their kinds. */
export interface KnownScopes {
  readonly modules: ReadonlySet<string>;
  readonly kinds: ReadonlyMap<string, ScopeKind>;
}

const EVERYTHING = '*';
/** In no null or `*` scope. */
export const OPERATOR_MODULE = 'operator';
const SUGGESTION_DISTANCE_MAX = 40;
const rank: Readonly<Record<ScopeKind, number>> = { read: 0, write: 1, admin: 2 };

/** Module of a capability id: the part before the first dot. */
export function moduleOf(capability: string): string {
  const dot = capability.indexOf('.');
  return dot === -1 ? capability : capability.slice(0, dot);
}

export interface ModuleLevels {
  readonly module: string;
  /** Scopes of the module that may be given, each with all of those before it: read, write, the whole module. At least one. */
  readonly levels: readonly string[];
}

export function levelsOf(module: string): readonly string[] {
  return [`${module}:read`, `${module}:write`, module];
}

/** Modules that exist here and keys of any account may have, in the order of the manifest. */
export function liveModules({ kinds }: KnownScopes): readonly string[] {
  return [...new Set([...kinds.keys()].map(moduleOf))].filter((module) => module !== OPERATOR_MODULE);
}

/** Whether a scope is of the operator's module, or a part of it. */
export function isOperatorsScope(scope: string): boolean {
  return moduleOf(scope.split(':', 1)[0] ?? '') === OPERATOR_MODULE;
}

/** Whether a key with these scopes (null = all) may call a capability of this kind. */
export function scopesAllow(scopes: readonly string[] | null, capability: string, kind: ScopeKind): boolean {
  const module = moduleOf(capability);
  const isIncluded = module !== OPERATOR_MODULE;
  if (scopes === null) return isIncluded;
  return scopes.some((scope) => {
    if ((scope === EVERYTHING && isIncluded) || scope === capability || scope === module) return true;
    const colon = scope.indexOf(':');
    if (colon === -1 || scope.slice(0, colon) !== module) return false;
    return (rank[scope.slice(colon + 1) as ScopeKind] ?? -1) >= rank[kind];
  });
}

/** `plannedModules`: modules that may be granted before they are built. */
export function knownScopesOf(
  capabilities: Iterable<{ readonly id: string; readonly scope: ScopeKind }>,
  plannedModules: readonly string[],
): KnownScopes {
  const kinds = new Map<string, ScopeKind>();
  for (const { id, scope } of capabilities) kinds.set(id, scope);
  const planned = plannedModules.filter((name) => /^[a-z][a-z0-9_]*$/.test(name));
  return { modules: new Set([...planned, ...[...kinds.keys()].map(moduleOf)]), kinds };
}

/**
 * The scopes as they are stored: null for all (empty and null mean all modules), repeated ones once.
 * Throws INVALID_SCOPE with `scopes[i]` for one that is not known.
 */
export function validateScopes(known: KnownScopes, scopes: readonly string[] | null): string[] | null {
  if (scopes === null || scopes.length === 0) return null;
  const unknown = scopes.findIndex((scope) => !isKnown(known, scope));
  if (unknown !== -1) throw unknownScope(known, scopes[unknown] as string, unknown);
  return [...new Set(scopes)];
}

/**
 * Whether everything that `inner` allows, capabilities added later included, is allowed by `outer`; null = all.
 * A module scope stands for capabilities that do not exist yet, so no list of ids contains it.
 */
export function scopesWithin(
  known: KnownScopes,
  inner: readonly string[] | null,
  outer: readonly string[] | null,
): boolean {
  const hasEverything = outer === null || outer.includes(EVERYTHING);
  if (inner === null) return hasEverything;
  return inner.every((scope) => {
    if (scope === EVERYTHING) return hasEverything;
    const { module, kind } = reach(scope);
    // A module scope is asked for as a capability of that module and kind that nobody can list by its id.
    const capability = kind === null ? scope : `${module}.`;
    return scopesAllow(outer, capability, kind ?? known.kinds.get(scope) ?? 'admin');
  });
}

/** Module of a scope, and the highest kind it allows throughout that module; null for a single capability. */
function reach(scope: string): { module: string; kind: ScopeKind | null } {
  const [module = '', kind] = scope.split(':');
  if (kind !== undefined) return { module, kind: kind as ScopeKind };
  if (!scope.includes('.')) return { module, kind: 'admin' };
  return { module: moduleOf(scope), kind: null };
}

function isKnown(known: KnownScopes, scope: string): boolean {
  if (scope === EVERYTHING || known.modules.has(scope) || known.kinds.has(scope)) return true;
  const [module = '', kind = '', ...rest] = scope.split(':');
  return rest.length === 0 && known.modules.has(module) && Object.hasOwn(rank, kind);
}

function unknownScope(known: KnownScopes, scope: string, index: number) {
  const modules = [...known.modules];
  const candidates = [...known.kinds.keys(), ...modules, ...modules.flatMap((module) => kindScopes(module))];
  const [close] = nearest(scope.slice(0, SUGGESTION_DISTANCE_MAX), candidates, 1);
  const hint = close === undefined ? '' : ` Did you mean ${JSON.stringify(close)}?`;
  return problem('INVALID_SCOPE', {
    message: `${JSON.stringify(scope.slice(0, 128))} is not a scope.${hint}`,
    param: `scopes[${index}]`,
  });
}

function kindScopes(module: string): string[] {
  return Object.keys(rank).map((kind) => `${module}:${kind}`);
}
