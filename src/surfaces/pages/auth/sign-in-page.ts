// The sign-in page, with all ways to sign in: an identity provider, a mail, an API key.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { type Html, html } from '../../../lib/html.ts';
import { framePage } from '../frame.ts';
import { pathTo } from '../visitor.ts';

/** What was wrong, and in which field. */
export interface Fault {
  readonly field: 'email' | 'key' | 'code';
  readonly text: string;
  /** What had been typed, to be mended; never a secret. */
  readonly typed?: string;
}

export interface SignInPage {
  /** Where the visitor goes on to afterwards: a local path, or empty. */
  readonly returnTo: string;
  /** Why a sign-in of the last minutes is asked for, though somebody is signed in. */
  readonly isAgain?: boolean;
  readonly fault?: Fault;
  readonly status?: number;
  readonly headers?: RawAnswer['headers'];
}

export function signInPage(core: Pick<Services, 'baseUrl' | 'identityProviders'>, page: SignInPage): RawAnswer {
  const { returnTo, isAgain = false, fault, status = 200, headers = {} } = page;
  const back = html`<input type="hidden" name="return_to" value="${returnTo}">`;
  const content = html`<h1>Sign in</h1>
${isAgain ? html`<p>This needs a sign-in within the last 15 minutes.</p>` : ''}
${providers(core, returnTo)}
<form method="post" action="${pathTo(core, '/auth/mail')}">${back}
${field('email', 'Email address', html`type="email" autocomplete="email" maxlength="254" placeholder="you@example.com"`, fault)}
<button class="main wide">Email me a sign-in link</button>
</form>
<p class="or">or</p>
<form method="post" action="${pathTo(core, '/auth/key')}">${back}
${field('key', 'API key', html`type="password" autocomplete="current-password" spellcheck="false" autocapitalize="off" placeholder="qm_live_…"`, fault)}
<p></p><button class="wide">Sign in with an API key</button>
</form>`;
  return framePage({ status, title: 'Sign in', content, isNarrow: true, headers });
}

function providers(core: Pick<Services, 'baseUrl' | 'identityProviders'>, returnTo: string): Html {
  const all = [...core.identityProviders.values()];
  if (all.length === 0) return html``;
  const query = returnTo === '' ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
  const link = ({ id, name }: (typeof all)[number]) =>
    html`<li><a class="wide" href="${pathTo(core, `/auth/start/${id}`)}${query}">Continue with ${name}</a></li>`;
  return html`<ul class="plain">${all.map(link)}</ul><p class="or">or</p>`;
}

/** A field with its label, and what was wrong with it. */
export function field(name: string, label: string, attributes: Html, fault: Fault | undefined): Html {
  const text = fault?.field === name ? fault.text : null;
  const told = text === null ? '' : html`<p class="failure" role="alert" id="${name}-fault">${text}</p>`;
  const tied = text === null ? '' : html` aria-invalid="true" aria-describedby="${name}-fault"`;
  const typed = text === null || fault?.typed === undefined ? '' : html` value="${fault.typed}"`;
  return html`${told}<label for="${name}">${label}</label>
<input id="${name}" name="${name}" required ${attributes}${typed}${tied}>`;
}
