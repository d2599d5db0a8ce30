// Page sections for actions that no key may do: switching the session's account, and managing identities, signed-in devices and the
// account's people.

import { tokenField } from '../../../kit/console/form.ts';
import { invitationForm } from '../../../kit/console/invitation-form.ts';
import type { PersonSections } from '../../../kit/console/visit.ts';
import type { Services } from '../../../kit/services.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import { type Member, membershipsOf, membersOf } from '../../../people/persons.ts';
import { type Session, sessionsOf } from '../../../people/sessions/sessions.ts';
import { type PendingInvitation, pendingInvitations } from '../../../people/sign-in/invitations.ts';
import { pathTo, type Visitor } from '../visitor.ts';
import { identitiesSection } from './identities.ts';
import { type Fault, field } from './sign-in-page.ts';

export interface SectionOptions {
  /** What an invitation was refused for. */
  readonly fault?: Fault;
  /** A local path: the page that follows where a form has nothing more to say; absent: the page of who is signed in. */
  readonly returnTo?: string;
  /** How an instant is told beside UTC; absent: not. */
  readonly localTime?: (instant: string) => string;
}

const none = html``;

export async function personSections(
  core: Services,
  visitor: Visitor,
  options: SectionOptions,
): Promise<PersonSections> {
  const { session, person } = visitor;
  if (person === null) {
    if (session.kind !== 'operator') return { switcher: none, identities: none, devices: none, people: none };
    const people = await peopleSection(core, visitor, options);
    return { switcher: none, identities: none, devices: none, people };
  }
  const [memberships, sessions, identities, people] = await Promise.all([
    membershipsOf(core.db, person.personId),
    sessionsOf(core.db, person.personId),
    identitiesSection(core, visitor),
    session.role === null ? none : peopleSection(core, visitor, options),
  ]);
  const parts = { core, visitor, options };
  return {
    switcher: memberships.length > 1 ? switcher(parts, memberships) : none,
    identities,
    devices: devices(parts, sessions),
    people,
  };
}

async function peopleSection(core: Services, visitor: Visitor, options: SectionOptions): Promise<Html> {
  const { accountId } = visitor.session;
  const [members, invitations] = await Promise.all([
    membersOf(core.db, accountId),
    pendingInvitations(core.db, accountId),
  ]);
  return people({ core, visitor, options }, members, invitations);
}

/** Whether the visitor changes people: an owner, or the operator. */
export function changesPeople({ role, kind }: Pick<Session, 'role' | 'kind'>): boolean {
  return role === 'owner' || kind === 'operator';
}

interface Parts {
  readonly core: Services;
  readonly visitor: Visitor;
  readonly options: SectionOptions;
}

/** A form of the session. */
export function sessionForm(
  core: Services,
  visitor: Visitor,
  { path, content, returnTo }: { readonly path: string; readonly content: Html; readonly returnTo?: string },
): Html {
  const back = returnTo === undefined ? '' : html`<input type="hidden" name="return_to" value="${returnTo}">`;
  return html`<form method="post" action="${pathTo(core, path)}">${tokenField(visitor)}${back}${content}</form>`;
}

function form({ core, visitor, options: { returnTo } }: Parts, path: string, content: Html): Html {
  return sessionForm(core, visitor, { path, content, ...(returnTo === undefined ? {} : { returnTo }) });
}

function switcher(parts: Parts, memberships: readonly Member[]): Html {
  const { accountId: here } = parts.visitor.session;
  const choice = ({ accountId, role }: Member) =>
    html`<label class="choice"><input type="radio" name="account_id" value="${accountId}"${accountId === here ? html` checked` : ''}>${accountId}, ${role}</label>`;
  return form(
    parts,
    '/auth/account/switch',
    html`<fieldset><legend>Account</legend>${memberships.map(choice)}</fieldset><button>Switch account</button>`,
  );
}

function devices(parts: Parts, sessions: readonly Session[]): Html {
  const instantText = (ms: number) => instant(ms, parts.options.localTime);
  const row = (session: Session) => {
    const isHere = session.sessionId === parts.visitor.session.sessionId;
    const button = html`<input type="hidden" name="session_id" value="${session.sessionId}"><button aria-label="Sign out ${session.agent} at ${session.remoteAddress}">Sign out</button>`;
    return html`<li class="card"><p><bdi>${session.agent === '' ? 'Unknown browser' : session.agent}</bdi>, ${session.remoteAddress}${isHere ? ' (this one)' : ''}</p>
<p class="quiet">Signed in ${instantText(session.signedInAtMs)}, last seen ${instantText(session.seenAtMs)}</p>
${form(parts, '/auth/account/end', button)}</li>`;
  };
  return html`<h2>Devices</h2><ul class="plain">${sessions.map(row)}</ul>
${form(parts, '/auth/account/end', html`<button name="all" value="1">Sign out everywhere</button>`)}`;
}

function people(parts: Parts, members: readonly Member[], invitations: readonly PendingInvitation[]): Html {
  const { session } = parts.visitor;
  const isOwner = changesPeople(session);
  const remove = ({ personId, email, name }: Member) =>
    isOwner && personId !== session.personId
      ? form(
          parts,
          '/auth/account/remove',
          html`<input type="hidden" name="person_id" value="${personId}"><button aria-label="Remove ${email ?? name ?? personId}">Remove</button>`,
        )
      : '';
  const row = (member: Member) =>
    html`<li class="card"><p><bdi>${member.email ?? member.name ?? member.personId}</bdi>, ${member.role}</p>${remove(member)}</li>`;
  const invitation = () =>
    invitationForm({
      formToken: parts.visitor.formToken,
      action: pathTo(parts.core, '/auth/account/invite'),
      address: field('email', 'Email address', html`type="email" maxlength="254"`, parts.options.fault),
    });
  return html`<h2>People</h2><ul class="plain">${members.map(row)}</ul>
${invitations.length === 0 ? '' : html`<h3>Pending invitations</h3><ul class="plain">${invitations.map((each) => pending(parts, each))}</ul>`}
${isOwner ? invitation() : ''}
${session.personId === null ? '' : html`<p><a href="${pathTo(parts.core, '/auth/account/leave')}">Leave the account…</a></p>`}`;
}

function pending(parts: Parts, { id, email, role, expiresAtMs }: PendingInvitation): Html {
  const cancel = html`<input type="hidden" name="invitation" value="${id}"><button aria-label="Cancel the invitation to ${email}">Cancel</button>`;
  return html`<li class="card"><p><bdi>${email}</bdi>, ${role}, invited</p>
<p class="quiet">Expires ${instant(expiresAtMs, parts.options.localTime)}</p>
${changesPeople(parts.visitor.session) ? form(parts, '/auth/account/cancel-invitation', cancel) : ''}</li>`;
}

export function instant(ms: number, localTime?: (instant: string) => string): Html {
  const title = localTime === undefined ? '' : html` title="${localTime(iso(ms))}"`;
  return html`<time datetime="${iso(ms)}"${title}>${iso(ms).slice(0, 16).replace('T', ' ')} UTC</time>`;
}
