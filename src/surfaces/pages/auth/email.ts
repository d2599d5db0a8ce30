// Page of the mailed link that binds an address to an account. Scanners open links, so only the page's button binds.

import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { bindEmail } from '../../../people/email-binding.ts';
import { framePage } from '../frame.ts';
import { foreignFormPage, message } from '../message.ts';
import { isOwnForm } from '../own-form.ts';

const ACCOUNT = /^acct_[A-Za-z0-9_]{1,60}$/;
const TOKEN = /^[0-9A-Za-z]{30}$/;

export async function bindByLink(core: Services, request: RawRequest): Promise<RawAnswer> {
  const { account = '', token = '' } = request.params;
  if (!ACCOUNT.test(account) || !TOKEN.test(token)) return worksNoMore();
  if (request.method !== 'POST') return confirmPage();
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const bound = await core.db.transaction((tx) =>
    bindEmail(tx, { accountId: account, secret: token, requestId: request.requestId }),
  );
  return bound === null
    ? worksNoMore()
    : message(200, 'Email address confirmed', html`<p>You can close this page.</p>`);
}

/** The same for every link: whether it works is told to who presses the button. */
function confirmPage(): RawAnswer {
  const content = html`<h1>Confirm this email address</h1>
<p>Somebody asked to bind this address to their account. If it was not you, close this page.</p>
<form method="post"><button class="main wide">Confirm address</button></form>`;
  return framePage({ status: 200, title: 'Confirm this email address', content, isNarrow: true });
}

function worksNoMore(): RawAnswer {
  return message(400, 'This link has expired', html`<p>A link works once, for 15 minutes. Request a new one.</p>`);
}
