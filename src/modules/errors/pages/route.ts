// GET and POST {base_url}/console/errors/{error_group_id}: the page of a group behind a form for the key (contract §9).
import { secretCredential } from '../../../core/credentials/credential.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../manifest/raw-route.ts';
import { Problem } from '../../../problems/problem.ts';
import { readGroupDetail } from '../groups/group-detail.ts';
import { databaseNow } from '../search/find-events.ts';
import type { ErrorsState } from '../state.ts';
import { groupPage } from './group-page.ts';
import { isOwnForm, readForm } from './own-form.ts';
import { endingCookie, openingCookie, openSession, SESSION_MS, sealSession, sentSession } from './session.ts';
import { failurePage, foreignFormPage, notFoundPage, signInPage } from './sign-in.ts';

const FORM_BYTES_MAX = 4_096;

export const consoleRoute: RawRoute<ErrorsState> = {
  name: 'errors.console',
  methods: ['GET', 'POST'],
  path: '/console/errors/{error_group_id}',
  capability: 'errors.group_detail',
  bodyBytesMax: FORM_BYTES_MAX,
  answer: (request, state) => (request.method === 'POST' ? takeForm(request, state) : show(request, state)),
  refuse: (failure, head) => failurePage(failure, sentSession(head.headers.cookie) !== null),
};

async function show(request: RawRequest, state: ErrorsState): Promise<RawAnswer> {
  const { baseUrl, db, secrets } = state.core;
  const token = sentSession(request.headers.cookie);
  if (token === null) return signInPage({ failure: null, fromElsewhere: mayBeFromElsewhere(request) });
  const nowMs = await databaseNow(db);
  const secret = openSession(secrets, token, nowMs);
  const ended = { 'set-cookie': endingCookie(baseUrl) };
  if (secret === null) return signInPage({ failure: null, headers: ended });
  try {
    const { accountId } = await request.admit(secretCredential(secret));
    const groupId = state.ids.parseGroup(accountId, groupOf(request));
    const group = groupId === null ? null : await readGroupDetail(state, accountId, groupId);
    return group === null ? notFoundPage() : groupPage(group, nowMs);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'INVALID_API_KEY') throw error;
    return signInPage({ failure: error, headers: ended });
  }
}

async function takeForm(request: RawRequest, state: ErrorsState): Promise<RawAnswer> {
  const { baseUrl, db, secrets } = state.core;
  if (!isOwnForm(request.headers, baseUrl)) return foreignFormPage(sentSession(request.headers.cookie) !== null);
  const form = readForm(request.headers, request.body);
  if (form.get('action') === 'sign-out') return backHere(request, endingCookie(baseUrl));
  const secret = form.get('key')?.trim() ?? '';
  try {
    await request.admit(secret === '' ? null : secretCredential(secret));
  } catch (error) {
    if (!(error instanceof Problem) || error.httpStatus >= 500) throw error;
    return signInPage({ failure: error });
  }
  const expiresMs = (await databaseNow(db)) + SESSION_MS;
  return backHere(request, openingCookie(baseUrl, sealSession(secrets, secret, expiresMs)));
}

/** The browser asks for the page itself: a reload then sends no form again. */
function backHere(request: RawHead, cookie: string): RawAnswer {
  return {
    status: 303,
    headers: { location: here(request), 'set-cookie': cookie, 'cache-control': 'no-store' },
    body: '',
  };
}

/** This page, seen from itself. Whatever the id holds, it leads nowhere else. */
function here(request: RawHead): string {
  return `./${encodeURIComponent(groupOf(request))}`;
}

function groupOf({ params }: RawHead): string {
  return params.error_group_id ?? '';
}

// A Strict cookie does not come along when a link of another site is followed. Where browsers do not say so (plain http), it may be.
function mayBeFromElsewhere({ headers }: RawHead): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'cross-site';
}
