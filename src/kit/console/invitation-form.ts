// The form that invites a person to an account, on every page that shows the people of one. It is answered by the account page of who is signed in.
import { type Html, html } from '../../lib/html.ts';
import { type Role, roles, roleTexts } from '../../people/roles.ts';
import { tokenField } from './form.ts';

interface InvitationForm {
  readonly formToken: string;
  /** Where it goes, as the browser knows it: `/auth/account/invite`. */
  readonly action: string;
  /** The field of the address. */
  readonly address: Html;
  /** Of another account than the session's: the operator's choice. */
  readonly accountId?: string;
}

export function invitationForm({ formToken, action, address, accountId }: InvitationForm): Html {
  const account = accountId === undefined ? '' : html`<input type="hidden" name="account_id" value="${accountId}">`;
  return html`<form method="post" action="${action}">${tokenField({ formToken })}${account}<h3>Invite a person</h3>
${address}
<fieldset><legend>Role</legend>
${roles.toReversed().map(choice)}</fieldset>
<button>Send invitation</button></form>`;
}

function choice(role: Role): Html {
  const name = `${role[0]?.toUpperCase()}${role.slice(1)}`;
  return html`<label class="choice"><input type="radio" name="role" value="${role}"${role === 'viewer' ? html` checked` : ''}><span>${name}: ${roleTexts[role]}</span></label>
`;
}
