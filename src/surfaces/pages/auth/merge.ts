// Links an identity, and asks first when that merges an account into another. The question names both accounts, and the keys that can spend the
// credit afterwards. The answer is bound to what was shown: if a key has appeared meanwhile, the page asks again.

import { clockNow } from '../../../core/database-clock.ts';
import type { StoredKey } from '../../../core/keys/store.ts';
import { balanceOf } from '../../../core/wallet/ledger/read.ts';
import { tokenField } from '../../../kit/console/form.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import { isRecent } from '../../../people/sessions/sessions.ts';
import { APART, linkIdentity } from '../../../people/sign-in/link-identity.ts';
import type { Merger } from '../../../people/sign-in/merger.ts';
import { Problem } from '../../../problems/problem.ts';
import type { ProvenIdentity } from '../../../vendors/identity/port.ts';
import { framePage } from '../frame.ts';
import { foreignFormPage } from '../message.ts';
import { readForm } from '../own-form.ts';
import { isFormOf, pathTo, redirect, signInAgain, signOutForm, type Visitor, visitorOf } from '../visitor.ts';
import { hasBoth, refusalPage, statusPage } from './provider-pages.ts';

const ACCOUNT = '/auth/account';
const LABEL = 'identity-linking';
const LIVES_MS = 10 * 60_000;
const SEALED = /^[0-9A-Za-z_-]{60,6000}$/;

/** An identity that was proven by the person who links it. */
export interface Linking {
  readonly identity: ProvenIdentity;
  /** A path of this service. */
  readonly returnTo: string;
}

interface Sealed extends Linking {
  /** Of what was shown. */
  readonly digest: string;
  readonly untilMs: number;
}

/** The same person as when it began, who signed in no longer ago than what a browser left open may do. */
export function mayLink({ person, principal, session }: Visitor, personId: string): boolean {
  return person?.personId === personId && principal !== null && isRecent(session);
}

/** Links it, or asks first. `agreed`: to what the person has agreed; null: to nothing yet. */
export async function link(
  core: Services,
  visitor: Visitor,
  linking: Linking,
  { agreed, remoteAddress }: { readonly agreed: string | null; readonly remoteAddress: string },
  headers: RawAnswer['headers'] = {},
): Promise<RawAnswer> {
  const { identity, returnTo } = linking;
  const who = { personId: visitor.person?.personId ?? '', accountId: visitor.session.accountId };
  const linked = await linkIdentity(core, who, { identity, remoteAddress }, agreed);
  if ('asks' in linked) return question(core, visitor, linking, linked.asks, { isAgain: agreed !== null, headers });
  const isApart = linked.kept.length > 0 && agreed !== APART;
  return isApart ? statusPage(hasBoth, returnTo, headers) : redirect(returnTo, headers);
}

/** The form of the question. */
export async function linkAsAgreed(core: Services, request: RawRequest): Promise<RawAnswer> {
  const form = readForm(request.headers, request.body);
  const visitor = await visitorOf(core, request);
  if (visitor === null || !isFormOf(core, request, form, visitor)) return foreignFormPage();
  const personId = visitor.person?.personId ?? '';
  if (!mayLink(visitor, personId)) return signInAgain(core, { url: ACCOUNT });
  const sealed = openSealed(core, personId, form.get('linking') ?? '');
  if (sealed === null || sealed.untilMs <= (await clockNow(core.db))) return statusPage(over, pathTo(core, ACCOUNT));
  const agreed = form.get('action') === 'apart' ? APART : sealed.digest;
  try {
    return await link(core, visitor, sealed, { agreed, remoteAddress: request.remoteAddress });
  } catch (error) {
    if (!(error instanceof Problem) || error.httpStatus >= 500) throw error;
    return refusalPage(error, pathTo(core, ACCOUNT));
  }
}

const over = {
  status: 400,
  title: 'This question is closed',
  text: 'Only the person who was asked can answer it, within ten minutes. Nothing was changed: link the identity again.',
};

function openSealed({ secrets }: Services, personId: string, text: string): Sealed | null {
  if (!SEALED.test(text)) return null;
  try {
    return JSON.parse(secrets.decrypt(LABEL, personId, Buffer.from(text, 'base64url')));
  } catch {
    // Made up, or shown to somebody else.
    return null;
  }
}

async function question(
  core: Services,
  visitor: Visitor,
  { identity, returnTo }: Linking,
  merger: Merger,
  { isAgain, headers }: { readonly isAgain: boolean; readonly headers: RawAnswer['headers'] },
): Promise<RawAnswer> {
  const { into, from, keys, people, digest } = merger;
  const sealed: Sealed = { identity, returnTo, digest, untilMs: (await clockNow(core.db)) + LIVES_MS };
  const token = core.secrets
    .encrypt(LABEL, visitor.person?.personId ?? '', JSON.stringify(sealed))
    .toString('base64url');
  const credits = await Promise.all(from.map(({ accountId }) => balanceOf(core.db, accountId)));
  const content = html`<h1>Merge your accounts?</h1>
${isAgain ? html`<p class="failure" role="alert">Keys or people of these accounts have changed since you were asked. Check them again.</p>` : ''}
<p>This identity has an account of its own. Its credit and keys can move to the account that you act for now. This cannot be undone.</p>
<dl class="facts">
${from.map(
  (
    { accountId, name },
    i,
  ) => html`<dt>Ends</dt><dd>${accountId} <span class="quiet">${name === null ? '' : html`<bdi>${name}</bdi>, `}${credits[i]?.balance_usd ?? 0} USD of credit</span></dd>
`,
)}<dt>Stays</dt><dd>${into.accountId}${into.name === null ? '' : html` <span class="quiet"><bdi>${into.name}</bdi></span>`}</dd>
</dl>
<h2>Keys that can spend the credit afterwards</h2>
${
  keys.length === 0
    ? html`<p>None.</p>`
    : html`<ul class="plain">${keys.map(keyRow)}</ul>
<p>Before you merge, revoke the keys that you do not recognise: whoever has the secret of a key can spend your credit.</p>`
}
<h2>Other people in the account that stays</h2>
${people.length === 0 ? html`<p>Nobody.</p>` : html`<ul class="plain">${people.map(({ email, name, personId, role }) => html`<li><bdi>${email ?? name ?? personId}</bdi>, ${role}</li>`)}</ul>`}
<form method="post" action="${pathTo(core, '/auth/link')}">${tokenField(visitor)}<input type="hidden" name="linking" value="${token}">
<button class="main" name="action" value="merge">Merge the accounts</button>
<button name="action" value="apart">Link, and keep both accounts</button>
</form>
<p><a href="${returnTo}">Do not link</a></p>`;
  const signOut = signOutForm(core, visitor);
  return framePage({
    status: isAgain ? 409 : 200,
    title: 'Merge your accounts?',
    content,
    signOut,
    isNarrow: true,
    headers,
  });
}

function keyRow({ keyId, name, prefix, last4, scopes, createdAtMs }: StoredKey): Html {
  return html`<li class="card"><p><bdi>${name ?? keyId}</bdi><br><code>${prefix}…${last4}</code></p>
<p class="quiet">${scopes === null ? 'all scopes' : scopes.join(', ')}; created ${iso(createdAtMs).slice(0, 10)}</p></li>`;
}
