// The menu of who is signed in, at the top of every page: the balance, the accounts of the person, how the console looks, and the way out.
// It is a popover, so it opens without scripts too.
import { formFields, tokenField } from '../../kit/console/form.ts';
import { money } from '../../kit/console/text.ts';
import { type Html, html } from '../../lib/html.ts';
import { signOutForm } from '../pages/visitor.ts';
import type { Membership, Standing } from './standing.ts';
import type { PageVisit } from './visit.ts';

export function accountMenu(visit: PageVisit, { balanceUsd, memberships }: Standing): Html {
  const { visitor } = visit;
  const { person, session } = visitor;
  const name = person?.email ?? person?.name ?? (session.kind === 'operator' ? 'Operator' : 'API key');
  const balance =
    balanceUsd === null
      ? ''
      : html`<a class="item" href="${visit.path('/wallet')}">Balance <span>${money(balanceUsd)}</span></a>`;
  return html`<button type="button" class="who" popovertarget="account"><span class="avatar" aria-hidden="true">${name.slice(0, 1).toUpperCase()}</span><bdi>${name}</bdi><span class="unseen">: account menu</span></button>
<div id="account" popover aria-label="Account menu" role="dialog">
<p class="name"><bdi>${name}</bdi><span class="quiet">${session.accountId}${session.role === null ? '' : `, ${session.role}`}</span></p>
${balance}
<a class="item" href="${visit.path('/account')}">Account settings</a>
<a class="item" href="${visit.elsewhere('/auth/account')}">Sign-ins and sessions</a>
${memberships.length > 1 ? switcher(visit, memberships) : ''}
${viewForm(visit)}
${signOutForm({ baseUrl: visit.baseUrl }, visitor)}
</div>`;
}

function switcher(visit: PageVisit, memberships: readonly Membership[]): Html {
  const { accountId: here } = visit.visitor.session;
  const option = ({ accountId, accountName, role }: Membership) =>
    html`<option value="${accountId}"${accountId === here ? html` selected` : ''}>${accountName ?? accountId}, ${role}</option>`;
  return html`<form method="post" action="${visit.elsewhere('/auth/account/switch')}">${tokenField(visit)}<input type="hidden" name="return_to" value="${visit.path('')}">
<label>Account <select name="account_id">${memberships.map(option)}</select></label><p class="buttons"><button>Switch account</button></p></form>`;
}

function viewForm(visit: PageVisit): Html {
  const { theme, zone, keys, isChosen } = visit.preferences;
  const option = (value: string, label: string) =>
    html`<option value="${value}"${value === theme ? html` selected` : ''}>${label}</option>`;
  return html`<form class="view" aria-label="Appearance" method="post" action="${visit.path('/view')}">${formFields(visit, 'view')}
<label>Theme <select name="theme">${option('system', 'System')}${option('light', 'Light')}${option('dark', 'Dark')}</select></label>
<label>Time zone <input name="zone" value="${zone}" spellcheck="false" autocapitalize="off"></label>${isChosen ? '' : html`<p class="buttons" hidden><button type="button" data-own-zone>Use </button></p>`}
<label class="choice"><input type="checkbox" name="keys"${keys ? html` checked` : ''}> Keyboard shortcuts</label>
<input type="hidden" name="return_to" value="${visit.here}">
<p class="buttons"><button>Save</button></p></form>`;
}
