// Rechecks the rights of open sockets, which outlive the credentials that opened them. A process checks all of them together: one statement
// for each kind of principal and one for suspended accounts, whatever their number. On a distributed engine each account has its own.
import { isDeepStrictEqual } from 'node:util';
import { suspendedAmong } from '../../core/accounts/suspended.ts';
import { type LivePrincipal, type Principal, readLivePrincipals } from '../../core/callers/principal.ts';
import { accountsOf } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { authorize } from '../../gateway/authorize.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import { Problem, problem } from '../../problems/problem.ts';

export interface Entitled {
  /** Null: of its route. */
  readonly endpoint: Endpoint | null;
  principal: Principal | null;
  /** Its principal may not have it any more. */
  endRights(refusal: Problem): void;
}

/** Gives each socket its principal as it is now, or ends it. */
export async function lookAtRights(db: Database, sockets: readonly Entitled[]): Promise<void> {
  const known = new Map<string, Principal>();
  for (const socket of sockets) socket.principal = sharedPrincipal(known, socket.principal);
  const looked = sockets.map((socket) => ({ socket, principal: socket.principal }));
  const { live, suspended } = await readRights(db, new Set(looked.flatMap(({ principal }) => principal ?? [])));
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

async function readRights(db: Database, principals: ReadonlySet<Principal>) {
  const live = new Map<Principal, LivePrincipal>();
  const suspended = new Set<string>();
  for (const some of db.byTransaction([...principals])) {
    const accounts = accountsOf(some);
    const [found, stopped] = await Promise.all([readLivePrincipals(db, accounts, some), suspendedAmong(db, accounts)]);
    for (const [principal, now] of found) live.set(principal, now);
    for (const accountId of stopped) suspended.add(accountId);
  }
  return { live, suspended };
}

/** One object for equal ones, so that a thousand sockets of a key are one row to look for. */
function sharedPrincipal(known: Map<string, Principal>, principal: Principal | null): Principal | null {
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
