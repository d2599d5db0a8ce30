// Section with the identities of the signed-in person, and the forms that link another.

import { tokenField } from '../../../kit/console/form.ts';
import type { Services } from '../../../kit/services.ts';
import { type Html, html } from '../../../lib/html.ts';
import { EMAIL } from '../../../people/persons.ts';
import { identitiesOf } from '../../../people/sign-in/link-identity.ts';
import { pathTo, type Visitor } from '../visitor.ts';

/** A part of the page of the account; nothing for a session that is no person's, nor where there is nothing to tell or to link. */
export async function identitiesSection(core: Services, visitor: Visitor): Promise<Html> {
  if (visitor.person === null) return html``;
  const identities = await identitiesOf(core.db, visitor.person.personId);
  const row = ({ issuer, subject }: (typeof identities)[number]) =>
    html`<li>${issuer === EMAIL ? 'Mail' : new URL(issuer).host}: <bdi>${subject}</bdi></li>`;
  const forms = [...core.identityProviders.values()].map(
    ({ id, name }) => html`<form method="post" action="${pathTo(core, `/auth/start/${id}`)}">${tokenField(visitor)}
<button>Link ${name}</button></form>`,
  );
  if (identities.length === 0 && forms.length === 0) return html``;
  return html`<h2>Ways to sign in</h2><ul class="plain">${identities.map(row)}</ul>
${forms}`;
}
