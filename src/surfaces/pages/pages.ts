// The pages of the modules (manifest/page.ts), each behind a form for an API key (contract §9). A visit is a call of the page's capability
// with the key of the session: a revoked key, a lost scope, a used-up rate count at once. Nothing of a session is kept here.
import type { Core } from '../../core/context.ts';
import { secretCredential } from '../../core/credentials/credential.ts';
import { clockNow } from '../../core/database-clock.ts';
import { JsonText } from '../../lib/json-text.ts';
import type { Page } from '../../manifest/page.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../manifest/raw-route.ts';
import { Problem } from '../../problems/problem.ts';
import { framed } from './frame.ts';
import { isOwnForm, readForm } from './own-form.ts';
import { endingCookie, openingCookie, openSession, SESSION_MS, sealSession, sentSession } from './session.ts';
import { failurePage, foreignFormPage, notFoundPage, signInPage } from './sign-in.ts';

const FORM_BYTES_MAX = 4_096;

/** What the pages need of a started service. */
export type PageServices = Pick<Core, 'baseUrl' | 'db' | 'secrets'>;

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
    refuse: (failure, head) => failurePage(page, failure, sentSession(head.headers.cookie) !== null),
  };
}

async function visit(page: Page, request: RawRequest, { baseUrl, db, secrets }: PageServices): Promise<RawAnswer> {
  const token = sentSession(request.headers.cookie);
  if (token === null) return signInPage(page, { failure: null, fromElsewhere: mayBeFromElsewhere(request) });
  const nowMs = await clockNow(db);
  const secret = openSession(secrets, token, nowMs);
  const headers = { 'set-cookie': endingCookie(baseUrl) };
  if (secret === null) return signInPage(page, { failure: null, headers });
  try {
    await request.identify(secretCredential(secret));
    return await shown(page, request, nowMs);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'INVALID_API_KEY') throw error;
    return signInPage(page, { failure: error, headers });
  }
}

/** One answer for what is another account's, what never was, and what could not be. */
async function shown(page: Page, request: RawRequest, nowMs: number): Promise<RawAnswer> {
  const data = await dataOf(page, request);
  if (data === null) return notFoundPage(page);
  const { title, content } = page.show(data, nowMs);
  return framed({ status: 200, title, content, isSignedIn: true });
}

/** What the page's capability answers to the visitor; null when there is no such thing. Throws the Problem of any other failure. */
async function dataOf({ capability }: Page, request: RawRequest): Promise<unknown> {
  const { answer, problem } = await request.invoke(capability, request.params);
  if (problem !== null) {
    if (problem.httpStatus === 404 || problem.code === 'VALIDATION_FAILED') return null;
    throw problem;
  }
  const data = answer?.data;
  return data instanceof JsonText ? JSON.parse(data.text) : data;
}

async function takeForm(page: Page, request: RawRequest, { baseUrl, db, secrets }: PageServices): Promise<RawAnswer> {
  if (!isOwnForm(request.headers, baseUrl)) return foreignFormPage(sentSession(request.headers.cookie) !== null);
  const form = readForm(request.headers, request.body);
  if (form.get('action') === 'sign-out') return backHere(page, request, endingCookie(baseUrl));
  const secret = form.get('key')?.trim() ?? '';
  try {
    await request.identify(secret === '' ? null : secretCredential(secret));
    // A key that may not read it is told so here.
    await dataOf(page, request);
  } catch (error) {
    if (!(error instanceof Problem) || error.httpStatus >= 500) throw error;
    return signInPage(page, { failure: error });
  }
  const expiresMs = (await clockNow(db)) + SESSION_MS;
  return backHere(page, request, openingCookie(baseUrl, sealSession(secrets, secret, expiresMs)));
}

/** The browser asks for the page itself: a reload then sends no form again. */
function backHere(page: Page, request: RawHead, cookie: string): RawAnswer {
  return {
    status: 303,
    headers: { location: here(page, request), 'set-cookie': cookie, 'cache-control': 'no-store' },
    body: '',
  };
}

/** This page, seen from itself. Whatever its path holds, it leads nowhere else. */
function here({ path }: Page, { params }: RawHead): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return `./${last.replace(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}`;
}

// A Strict cookie does not come along when a link of another site is followed. Where browsers do not say so (plain http), it may be.
function mayBeFromElsewhere({ headers }: RawHead): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'cross-site';
}
