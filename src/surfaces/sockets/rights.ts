// Sockets outlive what let them in. Those of a process are looked at together: a statement for each kind of principal, and one for accounts
// that are suspended, whatever their number.
import { isDeepStrictEqual } from 'node:util';
import { suspendedAmong } from '../../core/accounts/suspended.ts';
import type { Principal } from '../../core/principal.ts';
import { readLivePrincipals } from '../../core/principal.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import { authorize } from '../../gateway/invoke.ts';
import { Problem, problem } from '../../problems/problem.ts';

export interface Entitled {
  /** Null: of its route. */
  readonly endpoint: Endpoint | null;
  principal: Principal | null;
  /** Its principal may not have it any more. */
  endRights(refusal: Problem): void;
}

/** Gives each socket its principal as it is now, or ends it. */
export async function lookAtRights(db: Queryable, sockets: readonly Entitled[]): Promise<void> {
  const known = new Map<string, Principal>();
  for (const socket of sockets) socket.principal = shared(known, socket.principal);
  const looked = sockets.map((socket) => ({ socket, principal: socket.principal }));
  const principals = new Set(looked.flatMap(({ principal }) => principal ?? []));
  if (principals.size === 0) return;
  const accounts = textArray([...new Set([...principals].map(({ accountId }) => accountId))]);
  const [live, suspended] = await Promise.all([
    readLivePrincipals(db, accounts, principals),
    suspendedAmong(db, accounts),
  ]);
  for (const { socket, principal } of looked) {
    if (principal === null) continue;
    const now = live.get(principal);
    const refusal =
      now === undefined || now.ended !== null
        ? principal.kind.refusal(now?.ended ?? 'unknown')
        : refusalOf(socket, { ...principal, scopes: now.scopes, suspended: suspended.has(principal.accountId) });
    if (refusal !== null) socket.endRights(refusal);
    else if (String(now?.scopes) !== String(principal.scopes))
      socket.principal = { ...principal, scopes: now?.scopes ?? null };
  }
}

/** One object for equal ones, so that a thousand sockets of a key are one row to look for. */
function shared(known: Map<string, Principal>, principal: Principal | null): Principal | null {
  if (principal === null) return null;
  const first = known.get(principal.id);
  if (first === undefined) known.set(principal.id, principal);
  return first !== undefined && isDeepStrictEqual(first, principal) ? first : principal;
}

function refusalOf({ endpoint }: Entitled, principal: Principal): Problem | null {
  if (endpoint === null) return principal.suspended ? problem('ACCOUNT_SUSPENDED') : null;
  try {
    authorize({ principal, endpoint });
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
