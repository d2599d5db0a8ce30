// The principal of a session: the key it was opened with, a person with the scopes of their role in one account, or the operator. It is read
// again under the locks of whatever it changes: an ended session, or a removed person, changes nothing.

import { findAccount } from '../../core/accounts/accounts.ts';
import type { Ended, LivePrincipal, Principal, PrincipalKind } from '../../core/callers/principal.ts';
import { OPERATOR_MODULE } from '../../core/callers/scopes.ts';
import type { Core } from '../../core/core.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import type { Queryable } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';
import { scopesOfRole } from '../roles.ts';
import { findSessions, type Session } from './sessions.ts';

type PrincipalCore = Pick<Core, 'db' | 'keys' | 'knownScopes'>;

interface SessionPrincipal extends Principal {
  readonly sessionId: string;
}

/** A session that was found, as what a request shows. */
export function sessionCredential(session: Session): Credential {
  return { find: (core) => principalOf(core, session) };
}

/** Who acts by it now. */
export async function principalOf(core: PrincipalCore, session: Session): Promise<Principal | Ended> {
  if (session.kind === 'key') return session.secretHash === null ? 'unknown' : core.keys.findByHash(session.secretHash);
  const scopes = scopesOf(core, session);
  const account = scopes === undefined ? null : await findAccount(core.db, session.accountId);
  if (scopes === undefined || account === null) return 'unknown';
  const { accountId, projectId, tier, suspended } = account;
  const principal: SessionPrincipal = {
    kind: kindFor(core),
    id: idOf(session),
    sessionId: session.sessionId,
    signedInAtMs: session.signedInAtMs,
    accountId,
    projectId,
    tier,
    suspended,
    scopes,
    isCurrent: true,
    hasSpendCap: false,
    rulesVersion: null,
  };
  return principal;
}

function kindFor(core: PrincipalCore): PrincipalKind {
  return {
    name: 'session',
    again: async (principal) => {
      const [session] = await findSessions(core.db, [(principal as SessionPrincipal).sessionId]);
      return session?.accountId === principal.accountId ? principalOf(core, session) : 'unknown';
    },
    readLive: (tx, _accounts, principals) => readLive(core, tx, principals as readonly SessionPrincipal[]),
    refusal: () =>
      problem('UNAUTHORIZED', { message: 'The session has ended, or acts for this account no more. Sign in again.' }),
  };
}

async function readLive(
  core: PrincipalCore,
  tx: Queryable,
  principals: readonly SessionPrincipal[],
): Promise<(LivePrincipal | undefined)[]> {
  const sessions = await findSessions(tx, [...new Set(principals.map(({ sessionId }) => sessionId))]);
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  return principals.map(({ sessionId, accountId }) => {
    const session = byId.get(sessionId);
    if (session === undefined || session.accountId !== accountId) return undefined;
    const scopes = scopesOf(core, session);
    if (scopes === undefined) return undefined;
    return { id: idOf(session), scopes, ended: null, expiresAtMs: null, isCurrent: true, cap: null };
  });
}

/** Undefined: it may do nothing. */
function scopesOf({ knownScopes }: PrincipalCore, { kind, role }: Session): readonly string[] | null | undefined {
  if (kind === 'operator') return ['*', OPERATOR_MODULE];
  return role === null ? undefined : scopesOfRole(knownScopes, role);
}

/** What it spends and does is booked under the person. */
function idOf({ personId, sessionId }: Session): string {
  return personId ?? sessionId;
}
