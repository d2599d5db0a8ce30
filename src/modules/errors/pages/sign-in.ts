// The pages around the page: the form for the key, and what is said when there is nothing to show.
import { type Html, html } from '../../../lib/html.ts';
import type { RawAnswer } from '../../../manifest/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { answerPage } from './page.ts';

export interface SignIn {
  /** Why the form is there again; null at first. */
  readonly failure: Problem | null;
  /** Whether the visitor may have come by a link of another site: browsers then keep a session to themselves, until the next step. */
  readonly fromElsewhere?: boolean;
  readonly headers?: RawAnswer['headers'];
}

/** The form for the key. */
export function signInPage({ failure, fromElsewhere = false, headers = {} }: SignIn): RawAnswer {
  const content = html`<h1>Open this error group</h1>
<p>Enter an API key that may read errors. It is sent to this service only, and this browser stays signed in for 12 hours at most.</p>
${failure === null ? '' : html`<p class="failure" role="alert" id="failure">${sentence(failure)}</p>`}
<form method="post">
<label for="key">API key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" autocapitalize="off"${failure === null ? '' : html` aria-invalid="true" aria-describedby="failure"`}>
<button class="main">Open</button>
</form>
${fromElsewhere ? html`<p class="quiet">Signed in already? <a href="">Open this page again</a>: browsers do not show a session to pages that are opened from another site.</p>` : ''}`;
  return answerPage({
    status: failure?.httpStatus ?? 200,
    title: 'Sign in',
    content,
    signedIn: false,
    narrow: true,
    headers: { ...retryAfter(failure), ...headers },
  });
}

/** One answer for groups of others and for those that never were. */
export function notFoundPage(): RawAnswer {
  return message(
    404,
    'No such error group',
    html`<p>The account of this key has no error group with this id. With the key of another account, sign out first.</p>`,
    true,
  );
}

/** For a form that another site sent in the visitor's name. */
export function foreignFormPage(signedIn: boolean): RawAnswer {
  const text = html`<p>The form was not sent by a page of this service. Open the page and send it from there.</p>`;
  return message(403, 'This form is not taken', text, signedIn);
}

/** A failure that no other key would mend, or that the surface found. */
export function failurePage(failure: Problem, signedIn: boolean): RawAnswer {
  return message(
    failure.httpStatus,
    'This page cannot be shown',
    html`<p class="failure" role="alert">${sentence(failure)}</p>`,
    signedIn,
    retryAfter(failure),
  );
}

function message(
  status: number,
  title: string,
  text: Html,
  signedIn: boolean,
  headers?: RawAnswer['headers'],
): RawAnswer {
  return answerPage({ status, title, content: html`<h1>${title}</h1>\n${text}`, signedIn, narrow: true, headers });
}

function sentence({ code, message: text }: Problem): string {
  if (code === 'INVALID_API_KEY') return 'This key is not valid: it is unknown, revoked or expired.';
  if (code === 'UNAUTHORIZED') return 'Enter a key.';
  if (code === 'INSUFFICIENT_SCOPE')
    return 'This key may not read error groups: it needs the scope errors:read or errors.group_detail.';
  return text;
}

function retryAfter(failure: Problem | null): RawAnswer['headers'] {
  if (failure?.retryAfterMs === undefined) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))) };
}
