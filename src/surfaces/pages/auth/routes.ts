// The pages of signing in and out. No GET changes anything. Forms are accepted only from pages of this service, and a session's forms only with
// its token.
import { admission } from '../../../core/admission.ts';
import { secretCredential } from '../../../core/credentials/credential.ts';
import { keyOf } from '../../../core/keys/api-key.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { endSession } from '../../../people/sessions/sessions.ts';
import { Problem } from '../../../problems/problem.ts';
import { foreignFormPage, message, retryAfter } from '../message.ts';
import { isOwnForm, readForm } from '../own-form.ts';
import { PageViews } from '../page-views.ts';
import { endingCookie } from '../session-cookie.ts';
import { isFormOf, localPath, pathTo, redirect, visitorOf, withoutStaleCookie } from '../visitor.ts';
import {
  accountForm,
  cancelInvited,
  endDevices,
  inviteSomebody,
  removeSomebody,
  restore,
  showAccount,
  switchTo,
} from './account.ts';
import { askByMail, signInByCode, signInByLink } from './by-mail.ts';
import { bindByLink } from './email.ts';
import { leaveAccount } from './leave.ts';
import { linkAsAgreed } from './merge.ts';
import { operatorLink } from './operator.ts';
import { backFromProvider, startAtProvider } from './provider-routes.ts';
import { signInPage } from './sign-in-page.ts';
import { signedIn } from './signed-in.ts';

const { formBytesMax } = admission.doors;

type Answering = (core: Services, request: RawRequest) => Promise<RawAnswer>;

export function authRoutes(services: () => Services): readonly RawRoute[] {
  let visits: PageViews | undefined;
  const route = (name: string, methods: RawRoute['methods'], path: string, answer: Answering): RawRoute => ({
    name,
    methods,
    path,
    capability: null,
    bodyBytesMax: formBytesMax,
    refuse: failurePage,
    answer: (request) => {
      const core = services();
      visits ??= new PageViews(core.bounds);
      visits.count(request.remoteAddress);
      return answer(core, request);
    },
  });
  return [
    route('auth.sign_in', ['GET'], '/auth', showSignIn),
    route('auth.key', ['POST'], '/auth/key', signInByKey),
    route('auth.mail', ['POST'], '/auth/mail', askByMail),
    route('auth.code', ['GET', 'POST'], '/auth/code', signInByCode),
    route('auth.link', ['GET', 'POST'], '/auth/mail/{link}', signInByLink),
    route('auth.account', ['GET'], '/auth/account', showAccount),
    route('auth.switch', ['POST'], '/auth/account/switch', accountForm(switchTo)),
    route('auth.end', ['POST'], '/auth/account/end', accountForm(endDevices)),
    route('auth.invite', ['POST'], '/auth/account/invite', accountForm(inviteSomebody)),
    route('auth.cancel_invitation', ['POST'], '/auth/account/cancel-invitation', accountForm(cancelInvited)),
    route('auth.remove', ['POST'], '/auth/account/remove', accountForm(removeSomebody)),
    route('auth.leave', ['GET', 'POST'], '/auth/account/leave', leaveAccount),
    route('auth.restore', ['POST'], '/auth/account/restore', accountForm(restore)),
    route('auth.email', ['GET', 'POST'], '/auth/email/{account}/{token}', bindByLink),
    route('auth.operator', ['GET', 'POST'], '/auth/operator/{token}', operatorLink),
    route('auth.sign_out', ['POST'], '/auth/sign-out', signOut),
    route('auth.start', ['GET', 'POST'], '/auth/start/{provider}', startAtProvider),
    route('auth.link_agreed', ['POST'], '/auth/link', linkAsAgreed),
    route('auth.callback', ['GET'], '/auth/callback/{provider}', backFromProvider),
  ];
}

async function showSignIn(core: Services, request: RawRequest): Promise<RawAnswer> {
  const returnTo = localPath(request.query.get('return_to'));
  const isAgain = request.query.has('again');
  const visitor = await visitorOf(core, request);
  if (visitor !== null && !isAgain) return redirect(returnTo ?? pathTo(core, '/auth/account'));
  const headers = visitor === null ? withoutStaleCookie(core, request) : {};
  return signInPage(core, { returnTo: returnTo ?? '', isAgain: isAgain && visitor !== null, headers });
}

async function signInByKey(core: Services, request: RawRequest): Promise<RawAnswer> {
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const form = readForm(request.headers, request.body);
  const secret = form.get('key')?.trim() ?? '';
  try {
    const key = keyOf(await request.identify(secret === '' ? null : secretCredential(secret)));
    if (key === null) throw new Error('a secret stands for a key');
    return await signedIn(core, request, { kind: 'key', key }, form.get('return_to'));
  } catch (error) {
    if (!(error instanceof Problem) || error.httpStatus >= 500) throw error;
    const returnTo = localPath(form.get('return_to')) ?? '';
    const fault = { field: 'key', text: error.message } as const;
    return signInPage(core, { returnTo, fault, status: error.httpStatus, headers: retryAfter(error) });
  }
}

/** The session has ended, on every process, before the answer. */
async function signOut(core: Services, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  const toSignIn = () => redirect(pathTo(core, '/auth'), { 'set-cookie': endingCookie(core.baseUrl) });
  if (visitor === null) return isOwnForm(request.headers, core.baseUrl) ? toSignIn() : foreignFormPage();
  if (!isFormOf(core, request, readForm(request.headers, request.body), visitor)) return foreignFormPage();
  await endSession(core.db, visitor.session.sessionId);
  return toSignIn();
}

function failurePage(failure: Problem): RawAnswer {
  const text = html`<p class="failure" role="alert">${failure.message}</p>`;
  return message(failure.httpStatus, 'This page cannot be shown', text, { headers: retryAfter(failure) });
}
