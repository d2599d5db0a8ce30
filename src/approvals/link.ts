// Links in mail to approvers: signed, for one approval and one person. Whoever holds one acts as that person for this approval alone, as long as
// they may act for the account at all. What they decide is looked at again in the commit (decide.ts).

import { findAccount } from '../core/accounts/accounts.ts';
import type { LivePrincipal, Principal, PrincipalKind } from '../core/callers/principal.ts';
import type { Credential } from '../core/credentials/credential.ts';
import { clockNow } from '../core/database-clock.ts';
import { SignedTokens } from '../core/secrets/signed-token.ts';
import type { Queryable } from '../db/database.ts';
import type { Services } from '../kit/services.ts';
import { membersOf } from '../people/persons.ts';
import { problem } from '../problems/problem.ts';

const KIND = 'approval';

export interface ApprovalLink {
  readonly accountId: string;
  readonly approvalId: string;
  readonly personId: string;
  /** When it works no more, epoch milliseconds. */
  readonly endsAtMs: number;
}

type LinkServices = Pick<Services, 'db' | 'secrets' | 'baseUrl'>;

export const APPROVE_PATH = '/approve/{token}';
export const DECIDE = 'account.approvals.decide';
export const GET = 'account.approvals.get';

export function linkOf({ secrets, baseUrl }: Pick<Services, 'secrets' | 'baseUrl'>, link: ApprovalLink): string {
  const { accountId, approvalId, personId, endsAtMs } = link;
  const token = tokensOf(secrets).write(KIND, [accountId, approvalId, personId, endsAtMs]);
  return `${baseUrl}/approve/${token}`;
}

/** Null: it is none of ours. */
export function readLink({ secrets }: Pick<Services, 'secrets'>, token: string): ApprovalLink | null {
  const fields = tokensOf(secrets).read(KIND, token);
  if (fields === null) return null;
  const [accountId, approvalId, personId, endsAtMs] = fields as readonly [string, string, string, number];
  return { accountId, approvalId, personId, endsAtMs };
}

function tokensOf(secrets: Services['secrets']): SignedTokens {
  return new SignedTokens(secrets, 'approval-links');
}

/** The person, as the one who holds the link acts: the link is the sign-in. */
export function linkCredential({ db }: Pick<LinkServices, 'db'>, { accountId, personId }: ApprovalLink): Credential {
  return {
    async find() {
      const [account, isMember] = await Promise.all([findAccount(db, accountId), actsFor(db, accountId, personId)]);
      if (account === null || !isMember) return 'revoked';
      const { projectId, tier, suspended } = account;
      const principal: Principal = {
        kind: linkKind(db),
        id: personId,
        accountId,
        projectId,
        tier,
        suspended,
        scopes: [DECIDE, GET],
        isCurrent: true,
        hasSpendCap: false,
        rulesVersion: null,
        signedInAtMs: await clockNow(db),
      };
      return principal;
    },
  };
}

async function actsFor(db: Queryable, accountId: string, personId: string): Promise<boolean> {
  return (await membersOf(db, accountId)).some((member) => member.personId === personId);
}

function linkKind(db: Queryable): PrincipalKind {
  return {
    name: 'approval_link',
    again: async (principal) => ((await actsFor(db, principal.accountId, principal.id)) ? principal : 'revoked'),
    readLive: (tx, _accounts, principals) => Promise.all(principals.map((principal) => liveOf(tx, principal))),
    refusal: () =>
      problem('UNAUTHORIZED', { message: 'The link works no more: its person does not act for the account.' }),
  };
}

async function liveOf(tx: Queryable, { accountId, id, scopes }: Principal): Promise<LivePrincipal | undefined> {
  if (!(await actsFor(tx, accountId, id))) return undefined;
  return { id, scopes, ended: null, expiresAtMs: null, isCurrent: true, cap: null };
}
