// Sign-in by mail: the action of the address form on the sign-in page, the form for the code, and the page of the link. Only the button
// of that page uses the link up.

import type { Transaction } from '../../../db/database.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { mailAddress } from '../../../people/addresses.ts';
import { roleTexts } from '../../../people/roles.ts';
import {
  askForSignIn,
  CODE_LIVES_MS,
  findByLink,
  personByMail,
  type SignInByMail,
  takeCode,
  takeLink,
} from '../../../people/sign-in/by-mail.ts';
import { Problem } from '../../../problems/problem.ts';
import { framePage } from '../frame.ts';
import { foreignFormPage, message, retryAfter } from '../message.ts';
import { isOwnForm, readForm } from '../own-form.ts';
import { cookieName, sentCookie, setCookie } from '../session-cookie.ts';
import { localPath, pathTo, redirect } from '../visitor.ts';
import { field, signInPage } from './sign-in-page.ts';
import { signedIn } from './signed-in.ts';

/** Says which browser asked: the code works in no other. */
const COOKIE = 'qm_mail';

/** Sends the mail, and goes on to the form for the code. Known and unknown addresses are answered alike. */
export async function askByMail(core: Services, request: RawRequest): Promise<RawAnswer> {
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const form = readForm(request.headers, request.body);
  const returnTo = localPath(form.get('return_to')) ?? '';
  const typed = form.get('email') ?? '';
  const refuse = (status: number, text: string, headers: RawAnswer['headers'] = {}) =>
    signInPage(core, { returnTo, status, fault: { field: 'email', text, typed }, headers });
  const email = mailAddress(typed);
  if (email === null) return refuse(400, 'Enter an e-mail address.');
  try {
    const browser = await askForSignIn(core, { email, returnTo, remoteAddress: request.remoteAddress });
    const cookie = setCookie(core.baseUrl, COOKIE, browser, CODE_LIVES_MS);
    return redirect(pathTo(core, '/auth/code'), { 'set-cookie': cookie });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'RATE_LIMITED') throw error;
    return refuse(429, error.message, retryAfter(error));
  }
}

export async function signInByCode(core: Services, request: RawRequest): Promise<RawAnswer> {
  if (request.method !== 'POST') return codePage(200, null);
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const browser = sentCookie(request.headers.cookie, cookieName(core.baseUrl, COOKIE)) ?? '';
  const code = readForm(request.headers, request.body).get('code') ?? '';
  const taken = await takeCode(core, browser, code);
  if (taken !== null) return finish(core, request, await core.db.transaction((tx) => arriving(tx, core, taken)));
  return codePage(400, 'The code is wrong, already used, or expired. After five wrong codes, request a new email.');
}

/** Mail scanners and previews open links: that uses nothing up. */
export async function signInByLink(core: Services, request: RawRequest): Promise<RawAnswer> {
  const link = request.params.link ?? '';
  if (request.method !== 'POST') {
    const found = await findByLink(core.db, link);
    return found === null ? usedLinkPage(core) : linkPage(found);
  }
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  // In one transaction: an invitation is accepted while it holds.
  const arrived = await core.db.transaction(async (tx) => {
    const taken = await takeLink(tx, link);
    return taken === null ? null : arriving(tx, core, taken);
  });
  return arrived === null ? usedLinkPage(core) : finish(core, request, arrived);
}

async function arriving(tx: Transaction, core: Services, taken: SignInByMail) {
  return { person: await personByMail(tx, core.signUp, taken), returnTo: taken.returnTo };
}

async function finish(
  core: Services,
  request: RawRequest,
  { person, returnTo }: Awaited<ReturnType<typeof arriving>>,
): Promise<RawAnswer> {
  const answer = await signedIn(core, request, { kind: 'person', ...person }, returnTo);
  const cookies = [answer.headers['set-cookie'] ?? [], setCookie(core.baseUrl, COOKIE, '', 0)].flat();
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookies } };
}

function codePage(status: number, wrong: string | null): RawAnswer {
  const fault = wrong === null ? undefined : ({ field: 'code', text: wrong } as const);
  const content = html`<h1>Check your email</h1>
<p>We sent you a link and a code. Open the link, or enter the code here. Both work once, for 15 minutes.</p>
<form method="post">
${field('code', 'Code', html`type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="12"`, fault)}
<button class="main wide">Sign in</button>
</form>`;
  return framePage({ status, title: 'Check your email', content, isNarrow: true });
}

function linkPage({ email, invitation }: SignInByMail): RawAnswer {
  const what =
    invitation === null
      ? html`<p>You will be signed in as <strong>${email}</strong>.</p>`
      : html`<p>You are invited as <strong>${email}</strong>, to an account as ${invitation.role}: ${roleTexts[invitation.role]}.</p>`;
  const content = html`<h1>Sign in</h1>
${what}
<form method="post"><button class="main wide">Sign in</button></form>`;
  return framePage({ status: 200, title: 'Sign in', content, isNarrow: true });
}

function usedLinkPage(core: Services): RawAnswer {
  const text = html`<p>The link was already used, has expired, or belongs to an invitation that ended. <a href="${pathTo(core, '/auth')}">Request a new one</a>.</p>`;
  return message(404, 'This link does not work', text);
}
