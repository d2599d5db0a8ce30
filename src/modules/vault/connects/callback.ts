// The way back from a provider: one address for all of them. A code is exchanged only for the browser that was sent away with this state, and
// what it brings is kept only if the page is still good and whoever made it still may.

import { lockWallet } from '../../../core/callers/lock.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../../kit/public-page.ts';
import type { Services } from '../../../kit/services.ts';
import { type AuthorizationChecks, isOfRequest } from '../../../vendors/oauth/authorization.ts';
import { requestToken, type TokenAnswer } from '../../../vendors/oauth/request-token.ts';
import type { Credential } from '../connections/credential.ts';
import { connectionTable, saveConnection } from '../connections/store.ts';
import { CALLBACK_PATH } from '../oauth/provider.ts';
import type { VaultState } from '../state.ts';
import {
  attemptCookieName,
  type ConnectName,
  type ConnectPlan,
  type ConnectRow,
  connectTable,
  openPlan,
  readAttempt,
  readState,
  saveConnect,
} from './connect.ts';
import { mayStillStart } from './starter.ts';
import { connectedRow, targetRefusal } from './target.ts';
import {
  connected,
  declinedThere,
  endedLink,
  notBegun,
  otherServer,
  refusedThere,
  revoked,
  unreachable,
  usedLink,
} from './words.ts';

export const callbackPage: PublicPage<VaultState> = {
  name: 'vault.connect_callback',
  methods: ['GET'],
  path: CALLBACK_PATH,
  answer: (request, { core }) => answerCallback(core, request),
};

async function answerCallback(core: Services, { query, cookie }: PageRequest): Promise<PageAnswer> {
  const state = only(query, 'state') ?? '';
  const name = readState(core.secrets, state);
  if (name === null) return notBegun;
  const nowMs = await clockNow(core.db);
  const checks = readAttempt(core.secrets, state, cookie(attemptCookieName(name)), nowMs);
  if (checks === null) return notBegun;
  // Whatever comes of it, this attempt is over.
  const answer = await finish(core, name, checks, query);
  return { ...answer, cookies: [{ name: attemptCookieName(name), value: '', lifeMs: 0 }] };
}

async function finish(
  core: Services,
  name: ConnectName,
  checks: AuthorizationChecks,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const row = await connectTable.find(core.db, name, name.connectId);
  if (row === null) return endedLink;
  if (row.used_at !== null) return usedLink;
  const plan = openPlan(core.secrets, name, row.plan);
  if (!isFrom(plan, query)) return otherServer;
  const code = only(query, 'code');
  if (code === null) return declinedThere;
  // Before the code is spent: the clock of the token's end.
  const askedAtMs = await clockNow(core.db);
  const answer = await requestToken(core.outbound, plan.source, {
    type: 'authorization_code',
    code,
    redirectUri: `${core.baseUrl}${CALLBACK_PATH}`,
    codeVerifier: checks.codeVerifier,
  });
  if (answer.kind === 'failed') return unreachable;
  if (answer.kind === 'refused') {
    core.log.info({ connectId: name.connectId, error: answer.error }, 'a provider gave no token for a code');
    return refusedThere;
  }
  if (answer.idToken !== null && plan.source.scopes.includes('openid') && !isOfRequest(answer.idToken, checks))
    return otherServer;
  return keep(core, name, credentialOf(plan, answer, askedAtMs));
}

/** The parameter; null: it is not there once. */
function only(query: URLSearchParams, name: string): string | null {
  const values = query.getAll(name);
  return values.length === 1 ? (values[0] as string) : null;
}

/** Whether the server that answered is the one that the browser was sent to, as far as it says so (RFC 9207). */
function isFrom({ issuer, namesItself }: ConnectPlan, query: URLSearchParams): boolean {
  if (issuer === null) return true;
  return query.has('iss') ? only(query, 'iss') === issuer : !namesItself;
}

function credentialOf(
  { source }: ConnectPlan,
  { access, refresh, expiresInMs }: TokenAnswer & { readonly kind: 'token' },
  askedAtMs: number,
): Credential & { readonly kind: 'oauth2' } {
  const endsAtMs = expiresInMs === null ? null : askedAtMs + expiresInMs;
  return { kind: 'oauth2', source, token: { access, endsAtMs }, refreshToken: refresh };
}

/** Under the lock of the account: everything is looked at again. */
function keep(
  core: Services,
  name: ConnectName,
  credential: Credential & { readonly kind: 'oauth2' },
): Promise<PageAnswer> {
  const { accountId } = name;
  return core.db.transaction(async (tx) => {
    const wallet = await lockWallet(tx, accountId);
    const row = await connectTable.find(tx, name, name.connectId);
    if (row === null || wallet === null) return endedLink;
    if (row.used_at !== null) return usedLink;
    const before = await connectionTable.find(tx, name, row.connection);
    const starter = { accountId, starterId: row.starter_id };
    const isAllowed = !wallet.suspended && (await mayStillStart(tx, core, starter));
    if (before === null || !isAllowed || targetRefusal(before, row) !== null) return revoked;
    const { nowMs } = wallet;
    const made = { provider: row.provider, nowMs };
    saveConnection(tx, name, connectedRow(core.secrets, before, ruleOf(row), credential, made));
    saveConnect(tx, name, { ...row, used_at: nowMs });
    return connected;
  });
}

function ruleOf({ connection, hosts, allow, keys }: ConnectRow) {
  return { connection, hosts, allow, keys };
}
