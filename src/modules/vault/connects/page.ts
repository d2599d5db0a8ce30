// The page of /connect/{token}, for whoever it was handed to. The token in its address is all that it asks for; it is good once.
import { findAccount } from '../../../core/accounts/accounts.ts';
import { lockAccount } from '../../../core/callers/lock.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../../kit/public-page.ts';
import type { Services } from '../../../kit/services.ts';
import { randomText } from '../../../lib/ids.ts';
import { authorizationRequest } from '../../../vendors/oauth/authorization.ts';
import { ATTEMPT_MS } from '../limits.ts';
import { CALLBACK_PATH } from '../oauth/provider.ts';
import type { VaultState } from '../state.ts';
import {
  attemptCookie,
  attemptCookieName,
  CONNECT_PATH,
  type ConnectName,
  type ConnectRow,
  connectTable,
  openPlan,
  readPageToken,
  saveConnect,
  stateToken,
} from './connect.ts';
import { askingPage, declined, endedLink, onwardPage, revoked, usedLink, wrongLink } from './words.ts';

export const connectPage: PublicPage<VaultState> = {
  name: 'vault.connect_page',
  methods: ['GET', 'POST'],
  path: CONNECT_PATH,
  answer: (request, { core }) => answerPage(core, request),
};

const ATTEMPT_CHARACTERS = 22;

async function answerPage(core: Services, request: PageRequest): Promise<PageAnswer> {
  const name = readPageToken(core.secrets, request.params.token ?? '');
  if (name === null) return wrongLink;
  const [row, nowMs] = await Promise.all([connectTable.find(core.db, name, name.connectId), clockNow(core.db)]);
  const over = overPage(row, nowMs);
  if (over !== null) return over;
  if (request.isForm && request.form.get('decision') === 'decline') return decline(core, name);
  if (request.isForm && request.form.get('decision') === 'connect') return begin(core, name, row as ConnectRow, nowMs);
  return show(core, name, row as ConnectRow);
}

/** Null: the page is good. */
export function overPage(row: ConnectRow | null, nowMs: number): PageAnswer | null {
  // Rows are kept for a day behind their end.
  if (row === null) return endedLink;
  if (row.used_at !== null) return usedLink;
  return row.expires_at <= nowMs ? endedLink : null;
}

async function show(core: Services, name: ConnectName, row: ConnectRow): Promise<PageAnswer> {
  const account = await findAccount(core.db, name.accountId);
  if (account === null || account.suspended) return revoked;
  return askingPage({ row, plan: openPlan(core.secrets, name, row.plan), account });
}

async function begin(core: Services, name: ConnectName, row: ConnectRow, nowMs: number): Promise<PageAnswer> {
  const { secrets, baseUrl } = core;
  const plan = openPlan(secrets, name, row.plan);
  const state = stateToken(secrets, name, randomText(ATTEMPT_CHARACTERS));
  const { clientId, scopes } = plan.source;
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`;
  const { authorizationUrl } = plan;
  const { url, checks } = await authorizationRequest({ authorizationUrl, clientId, scopes, redirectUri, state });
  const value = attemptCookie(secrets, state, checks, nowMs);
  return onwardPage(plan, url, [{ name: attemptCookieName(name), value, lifeMs: ATTEMPT_MS }]);
}

async function decline({ db }: Services, name: ConnectName): Promise<PageAnswer> {
  return db.transaction(async (tx) => {
    const nowMs = await lockAccount(tx, name.accountId);
    const row = await connectTable.find(tx, name, name.connectId);
    const over = nowMs === null ? endedLink : overPage(row, nowMs);
    if (over !== null) return over;
    saveConnect(tx, name, { ...(row as ConnectRow), used_at: nowMs });
    return declined;
  });
}
