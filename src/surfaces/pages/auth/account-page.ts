// The page of who is signed in: which account the session acts for, on which devices the person is signed in, and whose the account is.
import { findAccount } from '../../../core/accounts/accounts.ts';
import type { Core } from '../../../core/context.ts';
import { type Member, membershipsOf, membersOf } from '../../../core/people/persons.ts';
import { type Session, sessionsOf } from '../../../core/people/sessions/sessions.ts';
import { isOperatorsScope, OPERATOR_MODULE } from '../../../core/scopes.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import type { RawAnswer } from '../../../manifest/raw-route.ts';
import { framed } from '../frame.ts';
import { pathTo, signOutForm, tokenField, type Visitor } from '../visitor.ts';
import { identitiesSection } from './identities.ts';
import { type Fault, field } from './sign-in-page.ts';

export interface AccountPage {
  readonly status?: number;
  readonly fault?: Fault;
  /** What has just been done. */
  readonly done?: string;
}

export async function accountPage(core: Core, visitor: Visitor, page: AccountPage = {}): Promise<RawAnswer> {
  const { session, person } = visitor;
  const { status = 200, fault, done } = page;
  const account = await findAccount(core.db, session.accountId);
  const [memberships, sessions, members] =
    person === null
      ? [[], [], []]
      : await Promise.all([
          membershipsOf(core.db, person.personId),
          sessionsOf(core.db, person.personId),
          membersOf(core.db, session.accountId),
        ]);
  const content = html`<h1>Your account</h1>
${done === undefined ? '' : html`<p role="status">${done}</p>`}
<dl class="facts">
<dt>Signed in as</dt><dd>${whoIs(visitor)}</dd>
<dt>Account</dt><dd>${session.accountId}</dd>
</dl>
${visitor.principal?.scopes?.some(isOperatorsScope) === true ? operatorLink(core) : ''}
${account === null || account.purgeAtMs === null ? '' : deleted(core, visitor, account.purgeAtMs)}
${memberships.length > 1 ? switcher(core, visitor, memberships) : ''}
${await identitiesSection(core, visitor)}
${person === null ? '' : devices(core, visitor, sessions)}
${session.role === null ? '' : people(core, visitor, members, fault)}`;
  const signOut = signOutForm(core, visitor);
  return framed({ status, title: 'Your account', content, signOut, headers: visitor.headers });
}

/** Nothing of it works; for a while its owner can have it back. */
function deleted(core: Core, visitor: Visitor, purgeAtMs: number): Html {
  const button = html`<button>Restore the account</button>`;
  return html`<h2>Deleted</h2><p>This account was deleted. Its keys do not work, and all of it is removed for good ${time(purgeAtMs)}.</p>
${visitor.session.role === 'owner' ? form(core, visitor, '/auth/account/restore', button) : html`<p>An owner of it can restore it until then.</p>`}`;
}

function whoIs({ session, person }: Visitor): string {
  if (person !== null)
    return `${person.email ?? person.name ?? person.personId}${session.role === null ? '' : `, ${session.role}`}`;
  return session.kind === 'key' ? 'an API key' : 'the operator';
}

function operatorLink(core: Core): Html {
  return html`<p><a href="${pathTo(core, `/console/${OPERATOR_MODULE}`)}">The operator’s pages</a></p>`;
}

function form(core: Core, visitor: Visitor, path: string, content: Html): Html {
  return html`<form method="post" action="${pathTo(core, path)}">${tokenField(visitor)}${content}</form>`;
}

function switcher(core: Core, visitor: Visitor, memberships: readonly Member[]): Html {
  const choice = ({ accountId, role }: Member) =>
    html`<label class="choice"><input type="radio" name="account_id" value="${accountId}"${accountId === visitor.session.accountId ? html` checked` : ''}>${accountId}, ${role}</label>`;
  return form(
    core,
    visitor,
    '/auth/account/switch',
    html`<fieldset><legend>Act for</legend>${memberships.map(choice)}</fieldset><button>Switch</button>`,
  );
}

function devices(core: Core, visitor: Visitor, sessions: readonly Session[]): Html {
  const row = (session: Session) => {
    const isHere = session.sessionId === visitor.session.sessionId;
    const button = html`<input type="hidden" name="session_id" value="${session.sessionId}"><button aria-label="Sign out ${session.agent} at ${session.remoteAddress}">Sign out</button>`;
    return html`<li class="card"><p><bdi>${session.agent === '' ? 'Unknown browser' : session.agent}</bdi>, ${session.remoteAddress}${isHere ? ' (this one)' : ''}</p>
<p class="quiet">Signed in ${time(session.signedInAtMs)}, last seen ${time(session.seenAtMs)}</p>
${form(core, visitor, '/auth/account/end', button)}</li>`;
  };
  return html`<h2>Devices</h2><ul class="plain">${sessions.map(row)}</ul>
${form(core, visitor, '/auth/account/end', html`<button name="all" value="1">Sign out everywhere</button>`)}`;
}

function people(core: Core, visitor: Visitor, members: readonly Member[], fault: AccountPage['fault']): Html {
  const isOwner = visitor.session.role === 'owner';
  const remove = ({ personId, email, name }: Member) =>
    isOwner && personId !== visitor.session.personId
      ? form(
          core,
          visitor,
          '/auth/account/remove',
          html`<input type="hidden" name="person_id" value="${personId}"><button aria-label="Remove ${email ?? name ?? personId}">Remove</button>`,
        )
      : '';
  const row = (member: Member) =>
    html`<li class="card"><p><bdi>${member.email ?? member.name ?? member.personId}</bdi>, ${member.role}</p>${remove(member)}</li>`;
  const invitation = html`<h3>Invite somebody</h3>
${field('email', 'E-mail address', html`type="email" maxlength="254"`, fault)}
<fieldset><legend>Who may</legend>
<label class="choice"><input type="radio" name="role" value="viewer" checked>see everything</label>
<label class="choice"><input type="radio" name="role" value="owner">do everything</label></fieldset>
<button>Send an invitation</button>`;
  return html`<h2>People</h2><ul class="plain">${members.map(row)}</ul>
${isOwner ? form(core, visitor, '/auth/account/invite', invitation) : ''}`;
}

function time(ms: number): Html {
  return html`<time datetime="${iso(ms)}">${iso(ms).slice(0, 16).replace('T', ' ')} UTC</time>`;
}
