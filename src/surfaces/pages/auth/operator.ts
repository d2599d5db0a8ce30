// The operator's one-time link (`qm console`). A GET shows a button and uses nothing up: link scanners open links too.

import { OPERATOR_MODULE } from '../../../core/callers/scopes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { useOperatorLink } from '../../../core/operator/link.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { framePage } from '../frame.ts';
import { foreignFormPage, message } from '../message.ts';
import { isOwnForm } from '../own-form.ts';
import { pathTo } from '../visitor.ts';
import { signedIn } from './signed-in.ts';

export async function operatorLink(core: Services, request: RawRequest): Promise<RawAnswer> {
  if (request.method !== 'POST') return askedPage();
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const token = request.params.token ?? '';
  const accountId = await core.db.transaction(async (tx) => useOperatorLink(tx, token, await clockNow(tx)));
  if (accountId === null)
    return message(
      404,
      'This link is of no use any more',
      html`<p>It works once, for ten minutes. Ask for another one with <code>qm console</code>.</p>`,
    );
  return signedIn(core, request, { kind: 'operator', accountId }, pathTo(core, `/console/${OPERATOR_MODULE}`));
}

function askedPage(): RawAnswer {
  const content = html`<h1>Sign in as the operator</h1>
<p>This browser will act for the operator’s account: it may decide on the money and the accounts of everybody here.</p>
<form method="post"><button class="main">Sign in</button></form>`;
  return framePage({ status: 200, title: 'Sign in as the operator', content, isNarrow: true });
}
