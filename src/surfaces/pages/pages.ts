// The pages of the modules (manifest/page.ts), each for a session, or behind a form for an API key (contract §9). A visit is a call of the
// page's capability as the session's principal: a revoked key, a lost scope, a used-up rate count at once.
import type { Core } from '../../core/context.ts';
import { secretCredential } from '../../core/credentials/credential.ts';
import { clockNow } from '../../core/database-clock.ts';
import { keyOf } from '../../core/keys/api-key.ts';
import { sessionCredential } from '../../core/people/sessions/principal.ts';
import { endSession, openSession } from '../../core/people/sessions/sessions.ts';
import { JsonText } from '../../lib/json-text.ts';
import type { Page } from '../../manifest/page.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../manifest/raw-route.ts';
import { Problem } from '../../problems/problem.ts';
import { framed } from './frame.ts';
import { isOwnForm, readForm } from './own-form.ts';
import { openingCookie } from './session-cookie.ts';
import { failurePage, foreignFormPage, notFoundPage, signInPage } from './sign-in.ts';
import { pathTo, redirect, signOutForm, type Visitor, visitorOf, withoutStaleCookie } from './visitor.ts';

const FORM_BYTES_MAX = 4_096;

/** What the pages need of a started service. */
export type PageServices = Pick<Core, 'baseUrl' | 'db' | 'keys' | 'knownScopes' | 'secrets'>;

/** GET shows the page, or the form for the key; POST takes the form. */
export function pageRoute(page: Page, services: () => PageServices): RawRoute {
  return {
    name: page.name,
    methods: ['GET', 'POST'],
    path: page.path,
    capability: null,
    bodyBytesMax: FORM_BYTES_MAX,
    answer: (request) =>
      request.method === 'POST' ? takeForm(page, request, services()) : visit(page, request, services()),
    refuse: (failure) => failurePage(page, failure),
  };
}

async function visit(page: Page, request: RawRequest, core: PageServices): Promise<RawAnswer> {
  const otherWay = otherSignIn(core, request);
  const visitor = await visitorOf(core, request);
  const headers = withoutStaleCookie(core, request);
  if (visitor === null) return signInPage(page, { failure: null, otherWay, headers });
  try {
    await request.identify(sessionCredential(visitor.session));
    return await shown(page, request, core, visitor);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'INVALID_API_KEY') throw error;
    // Of a key that has ended, or of a person without this account: nothing is left to be signed in to.
    await endSession(core.db, visitor.session.sessionId);
    return signInPage(page, { failure: error, otherWay, headers });
  }
}

/** One answer for what is another account's, what never was, and what could not be. */
async function shown(page: Page, request: RawRequest, core: PageServices, visitor: Visitor): Promise<RawAnswer> {
  const data = await dataOf(page, request);
  const signOut = signOutForm(core, visitor);
  if (data === null) return notFoundPage(page, signOut, visitor.headers);
  const { title, content } = page.show(data, visitor.session.nowMs);
  return framed({ status: 200, title, content, signOut, headers: visitor.headers });
}

/** What the page's capability answers to the visitor; null when there is no such thing. Throws the Problem of any other failure. */
async function dataOf({ capability, query = [] }: Page, request: RawRequest): Promise<unknown> {
  const asked = query.flatMap((field) => request.query.getAll(field).map((value) => [field, value]));
  const { answer, problem } = await request.invoke(capability, { ...Object.fromEntries(asked), ...request.params });
  if (problem !== null) {
    if (problem.httpStatus === 404 || ['VALIDATION_FAILED', 'INVALID_CURSOR'].includes(problem.code)) return null;
    throw problem;
  }
  const data = answer?.data;
  return data instanceof JsonText ? JSON.parse(data.text) : data;
}

async function takeForm(page: Page, request: RawRequest, core: PageServices): Promise<RawAnswer> {
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const secret = readForm(request.headers, request.body).get('key')?.trim() ?? '';
  try {
    const principal = await request.identify(secret === '' ? null : secretCredential(secret));
    // A key that may not read it is told so here.
    await dataOf(page, request);
    const key = keyOf(principal);
    if (key === null) throw new Error('a secret stands for a key');
    const device = { remoteAddress: request.remoteAddress, agent: request.headers['user-agent'] };
    const token = await core.db.transaction(async (tx) =>
      openSession(tx, { kind: 'key', key }, device, await clockNow(tx)),
    );
    return redirect(here(page, request), { 'set-cookie': openingCookie(core.baseUrl, token) });
  } catch (error) {
    if (!(error instanceof Problem) || error.httpStatus >= 500) throw error;
    return signInPage(page, { failure: error, otherWay: otherSignIn(core, request) });
  }
}

function otherSignIn(core: PageServices, { url }: RawHead): string {
  return `${pathTo(core, '/auth')}?return_to=${encodeURIComponent(pathTo(core, url))}`;
}

/** This page, seen from itself. Whatever its path holds, it leads nowhere else. */
function here({ path }: Page, { params }: RawHead): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return `./${last.replace(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}`;
}
