// Scopes: `*`, a module, `module:read|write|admin`, or a capability id (contract §2). module = admin ⊃ write ⊃ read.
export type ScopeKind = 'read' | 'write' | 'admin';

const rank: Readonly<Record<ScopeKind, number>> = { read: 0, write: 1, admin: 2 };

/** Module of a capability id: the part before the first dot. */
export function moduleOf(capability: string): string {
  const dot = capability.indexOf('.');
  return dot === -1 ? capability : capability.slice(0, dot);
}

/** Whether a key with these scopes (null = all) may call a capability of this kind. */
export function scopesAllow(scopes: readonly string[] | null, capability: string, kind: ScopeKind): boolean {
  if (scopes === null) return true;
  const module = moduleOf(capability);
  return scopes.some((scope) => {
    if (scope === '*' || scope === capability || scope === module) return true;
    const colon = scope.indexOf(':');
    if (colon === -1 || scope.slice(0, colon) !== module) return false;
    return (rank[scope.slice(colon + 1) as ScopeKind] ?? -1) >= rank[kind];
  });
}
