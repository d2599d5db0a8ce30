// `/auth/start/{provider}` sends a browser to an identity provider, which sends it back to `/auth/callback/{provider}`. A GET signs in and never
// links, because a stranger's link may start any sign-in. Linking needs a form of the person's own session.

import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { isRecent } from '../../../people/sessions/sessions.ts';
import { personOf } from '../../../people/sign-in/by-provider.ts';
import { Problem } from '../../../problems/problem.ts';
import { IdentityError, type IdentityProvider, type ProvenIdentity } from '../../../vendors/identity/port.ts';
import { foreignFormPage } from '../message.ts';
import { readForm } from '../own-form.ts';
import { isFormOf, localPath, pathTo, redirect, signInAgain, visitorOf } from '../visitor.ts';
import { type Attempt, attemptCookie, endingAttemptCookie, sentAttempt } from './attempt.ts';
import { link, mayLink } from './merge.ts';
import { failures, noSuchProvider, notBegun, onwardPage, refusalPage, statusPage } from './provider-pages.ts';
import { signedIn } from './signed-in.ts';

const ACCOUNT = '/auth/account';

/** GET begins a sign-in, POST links one more identity to who is signed in. */
export function startAtProvider(core: Services, request: RawRequest): Promise<RawAnswer> {
  return withProvider(core, request, {}, (provider) =>
    request.method === 'POST'
      ? startLinking(core, provider, request)
      : begin(core, provider, { returnTo: request.query.get('return_to'), linkTo: null }, redirect),
  );
}

/** Whatever comes of it, the attempt is over: its cookie ends. */
export async function backFromProvider(core: Services, request: RawRequest): Promise<RawAnswer> {
  const { secrets, baseUrl } = core;
  const ended = endingAttemptCookie(baseUrl);
  return withProvider(core, request, { 'set-cookie': ended }, async (provider) => {
    const attempt = sentAttempt(secrets, baseUrl, request.headers.cookie, provider.id, await clockNow(core.db));
    if (attempt === null) return statusPage(notBegun(baseUrl), pathTo(core, '/auth'));
    const callback = new URL(`${callbackUrl(core, provider)}?${request.query}`);
    const identity = await provider.finish(callback, attempt.checks);
    return attempt.linkTo === null
      ? signIn(core, identity, attempt, request, ended)
      : linkProven(core, identity, attempt, request, ended);
  });
}

async function withProvider(
  core: Services,
  request: RawRequest,
  headers: RawAnswer['headers'],
  answer: (provider: IdentityProvider) => Promise<RawAnswer>,
): Promise<RawAnswer> {
  const back = pathTo(core, '/auth');
  const provider = core.identityProviders.get(request.params.provider ?? '');
  if (provider === undefined) return statusPage(noSuchProvider, back);
  try {
    return await answer(provider);
  } catch (error) {
    if (error instanceof IdentityError) {
      core.log.info({ err: error, provider: provider.id }, 'a sign-in by a provider came to nothing');
      return statusPage(failures[error.kind](provider.name), back, headers);
    }
    if (error instanceof Problem && error.httpStatus < 500) return refusalPage(error, back, headers);
    throw error;
  }
}

async function startLinking(core: Services, provider: IdentityProvider, request: RawRequest): Promise<RawAnswer> {
  const form = readForm(request.headers, request.body);
  const visitor = await visitorOf(core, request);
  if (visitor === null || !isFormOf(core, request, form, visitor)) return foreignFormPage();
  if (visitor.person === null || !isRecent(visitor.session)) return signInAgain(core, { url: ACCOUNT });
  const wanted = { returnTo: form.get('return_to'), linkTo: visitor.person.personId };
  // A form may not lead to another origin (form-action of the page's policy): the next page does.
  return begin(core, provider, wanted, (url, headers) => onwardPage(provider.name, url, headers));
}

async function begin(
  core: Services,
  provider: IdentityProvider,
  { returnTo, linkTo }: { readonly returnTo: string | null; readonly linkTo: string | null },
  send: (url: string, headers: RawAnswer['headers']) => RawAnswer,
): Promise<RawAnswer> {
  const { url, checks } = await provider.begin(callbackUrl(core, provider));
  const attempt = { providerId: provider.id, checks, linkTo, returnTo: localPath(returnTo) ?? pathTo(core, ACCOUNT) };
  return send(url, { 'set-cookie': attemptCookie(core.secrets, core.baseUrl, attempt, await clockNow(core.db)) });
}

async function signIn(
  core: Services,
  identity: ProvenIdentity,
  { returnTo }: Attempt,
  request: RawRequest,
  ended: string,
): Promise<RawAnswer> {
  const { personId, accountId } = await personOf(core, { identity, remoteAddress: request.remoteAddress });
  const answer = await signedIn(core, request, { kind: 'person', personId, accountId }, returnTo);
  return {
    ...answer,
    headers: { ...answer.headers, 'set-cookie': [ended, answer.headers['set-cookie'] ?? []].flat() },
  };
}

async function linkProven(
  core: Services,
  identity: ProvenIdentity,
  { returnTo, linkTo }: Attempt,
  request: RawRequest,
  ended: string,
): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  if (visitor === null || linkTo === null || !mayLink(visitor, linkTo)) return signInAgain(core, { url: ACCOUNT });
  const { remoteAddress } = request;
  return link(core, visitor, { identity, returnTo }, { agreed: null, remoteAddress }, { 'set-cookie': ended });
}

function callbackUrl({ baseUrl }: Services, { id }: IdentityProvider): string {
  return `${baseUrl}/auth/callback/${id}`;
}
