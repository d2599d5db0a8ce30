// The visitor of a page, and what every page of a session needs: its form token, and the links to sign in and back.

import type { Principal } from '../../core/callers/principal.ts';
import { tokenField } from '../../kit/console/form.ts';
import type { RawAnswer, RawHead } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { type Html, html } from '../../lib/html.ts';
import { findPerson, type Person } from '../../people/persons.ts';
import { principalOf } from '../../people/sessions/principal.ts';
import { formToken, isFormToken, type Session } from '../../people/sessions/sessions.ts';
import { giveNewToken } from './new-token.ts';
import { isOwnForm } from './own-form.ts';
import { endingCookie, openingCookie, sentToken } from './session-cookie.ts';
import { findSessionFrom } from './session-door.ts';

export interface Visitor {
  readonly session: Session;
  /** Null: a key's session, or the operator's. */
  readonly person: Person | null;
  /** Who acts; null: the key has ended, or the person may not act for the account any more. */
  readonly principal: Principal | null;
  /** For the forms of the session. */
  readonly formToken: string;
}

export type VisitorServices = Pick<Services, 'baseUrl' | 'db' | 'secrets' | 'keys' | 'knownScopes'>;

const PATH_CHARACTERS_MAX = 1_000;

/**
 * Who sent the request, by the cookie of a live session; null: nobody is signed in. Throws RATE_LIMITED after too many unknown cookies. Only for routes made `withNewToken`. `isUse`: the session lives on from now; false for what
 * a browser asks by itself.
 */
export async function visitorOf(
  core: VisitorServices,
  request: Pick<RawHead, 'headers' | 'remoteAddress'>,
  { isUse } = { isUse: true },
): Promise<Visitor | null> {
  const token = sentToken(core.baseUrl, request.headers.cookie);
  const found = token === null ? null : await findSessionFrom(core.db, token, request.remoteAddress, { isUse });
  if (found === null) return null;
  const { session, newToken } = found;
  if (newToken !== null) giveNewToken(request, openingCookie(core.baseUrl, newToken));
  const [person, principal] = await Promise.all([
    session.personId === null ? null : findPerson(core.db, session.personId),
    principalOf(core, session),
  ]);
  return {
    session,
    person,
    formToken: formToken(core.secrets, session),
    principal: typeof principal === 'string' ? null : principal,
  };
}

/** Set-Cookie that takes a cookie away which no session belongs to. */
export function withoutStaleCookie(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { headers }: Pick<RawHead, 'headers'>,
): RawAnswer['headers'] {
  return sentToken(baseUrl, headers.cookie) === null ? {} : { 'set-cookie': endingCookie(baseUrl) };
}

/** Ends the session, from any page. */
export function signOutForm(core: Pick<Services, 'baseUrl'>, visitor: Pick<Visitor, 'formToken'>): Html {
  return html`<form method="post" action="${pathTo(core, '/auth/sign-out')}">${tokenField(visitor)}<button>Sign out</button></form>`;
}

/** Whether a page of this service wrote the form for this session. */
export function isFormOf(
  { baseUrl, secrets }: Pick<Services, 'baseUrl' | 'secrets'>,
  { headers }: Pick<RawHead, 'headers'>,
  form: URLSearchParams,
  { session }: Pick<Visitor, 'session'>,
): boolean {
  return isOwnForm(headers, baseUrl) && isFormToken(secrets, session, form.get('form_token') ?? '');
}

/** A path of this service with its query, as the browser knows it. */
export function pathTo({ baseUrl }: Pick<Services, 'baseUrl'>, path: string): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;
}

/** To the sign-in, and afterwards back to the page that was asked for. */
export function signInFirst(core: Pick<Services, 'baseUrl'>, { url }: Pick<RawHead, 'url'>): RawAnswer {
  return redirect(`${pathTo(core, '/auth')}?return_to=${encodeURIComponent(pathTo(core, url))}`);
}

/** The same for what asks for a sign-in of the last minutes. */
export function signInAgain(core: Pick<Services, 'baseUrl'>, { url }: Pick<RawHead, 'url'>): RawAnswer {
  return redirect(`${pathTo(core, '/auth')}?again=1&return_to=${encodeURIComponent(pathTo(core, url))}`);
}

/** 303: the browser asks for that page. */
export function redirect(location: string, headers: RawAnswer['headers'] = {}): RawAnswer {
  return { status: 303, headers: { location, 'cache-control': 'no-store', ...headers }, body: '' };
}

/** A path of this origin that somebody may be sent to; null for whatever leads, or might lead, elsewhere. */
export function localPath(text: string | null): string | null {
  if (text === null || text.length > PATH_CHARACTERS_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return null;
  const url = URL.parse(text, 'http://own.invalid');
  return url === null || url.origin !== 'http://own.invalid' || url.pathname.startsWith('//')
    ? null
    : url.pathname + url.search;
}
