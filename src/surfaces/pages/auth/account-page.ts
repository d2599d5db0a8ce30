// The account page of a signed-in person: the account of the session, the person's devices, and the account's people.
import { findAccount } from '../../../core/accounts/accounts.ts';
import { isOperatorsScope, OPERATOR_MODULE } from '../../../core/callers/scopes.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { type Html, html } from '../../../lib/html.ts';
import { framePage } from '../frame.ts';
import { pathTo, signOutForm, type Visitor } from '../visitor.ts';
import { changesPeople, instant, personSections, sessionForm } from './person-sections.ts';
import type { Fault } from './sign-in-page.ts';

export interface AccountPage {
  readonly status?: number;
  readonly fault?: Fault;
  /** What has just been done. */
  readonly done?: string;
}

export async function accountPage(core: Services, visitor: Visitor, page: AccountPage = {}): Promise<RawAnswer> {
  const { session, principal } = visitor;
  const { status = 200, fault, done } = page;
  const account = await findAccount(core.db, session.accountId);
  const sections = await personSections(core, visitor, fault === undefined ? {} : { fault });
  const content = html`<h1>Your account</h1>
${done === undefined ? '' : html`<p role="status">${done}</p>`}
<dl class="facts">
<dt>Signed in as</dt><dd>${visitorName(visitor)}</dd>
<dt>Account</dt><dd>${session.accountId}</dd>
</dl>
${principal?.scopes?.some(isOperatorsScope) === true ? operatorLink(core) : ''}
${principal === null ? '' : html`<p><a href="${pathTo(core, '/console')}">Console</a></p>`}
${account === null || account.purgeAtMs === null ? '' : deletedSection(core, visitor, account.purgeAtMs)}
${sections.switcher}
${sections.identities}
${sections.devices}
${sections.people}`;
  const signOut = signOutForm(core, visitor);
  return framePage({ status, title: 'Your account', content, signOut });
}

/** Nothing of it works; for a while its owner can have it back. */
function deletedSection(core: Services, visitor: Visitor, purgeAtMs: number): Html {
  const button = html`<button>Restore the account</button>`;
  return html`<h2>Deleted</h2><p>This account was deleted. Its keys do not work, and all of it is removed for good ${instant(purgeAtMs)}.</p>
${changesPeople(visitor.session) ? sessionForm(core, visitor, { path: '/auth/account/restore', content: button }) : html`<p>An owner of it can restore it until then.</p>`}`;
}

function visitorName({ session, person }: Visitor): string {
  if (person !== null)
    return `${person.email ?? person.name ?? person.personId}${session.role === null ? '' : `, ${session.role}`}`;
  return session.kind === 'key' ? 'an API key' : 'the operator';
}

function operatorLink(core: Services): Html {
  return html`<p><a href="${pathTo(core, `/console/${OPERATOR_MODULE}`)}">The operator’s pages</a></p>`;
}
