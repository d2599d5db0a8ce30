// Notices to addresses: a signed POST as webhooks are, or Slack's message. With the retries of webhooks; what is given up, the rule's history says.
import { dueTable } from '../../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { signedHeaders } from '../../../core/outbound/signature.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { retryAfterMs } from '../../../lib/retry-after.ts';
import type { OutboundOutcome } from '../../../vendors/http/port.ts';
import { defaultSecret } from '../../../webhooks/default-secret.ts';
import { pauseAfter } from '../../../webhooks/deliveries/retry-policy.ts';
import { addChange } from '../changes/store.ts';
import { POST_LEASE_MS, POSTS, POSTS_AT_ONCE } from '../limits.ts';
import { maskedUrl } from '../rules/notify.ts';

const LABEL = 'alert-post';
const GONE = 410;

const insert = statement(
  'alerts_add_post',
  `INSERT INTO alerts.post (account_id, post_id, rule, kind, sealed, body, due_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
);
const select = statement(
  'alerts_select_post',
  'SELECT p.rule, p.kind, p.sealed, p.body FROM alerts.post p WHERE p.account_id = $1 AND p.post_id = $2',
);
const remove = statement(
  'alerts_remove_post',
  'DELETE FROM alerts.post WHERE account_id = $1 AND post_id = $2 AND attempt = $3',
);
const due = dueTable({ table: 'alerts.post', key: 'post_id', leaseMs: POST_LEASE_MS });

interface PostRow {
  readonly rule: string;
  readonly kind: 'url' | 'slack';
  readonly sealed: Buffer;
  readonly body: string;
}

export interface NewPost {
  readonly accountId: string;
  readonly rule: string;
  readonly kind: PostRow['kind'];
  readonly url: string;
  readonly body: string;
}

/** Sends the row without waiting. */
export function addPost(
  tx: Transaction,
  secrets: Secrets,
  { accountId, rule, kind, url, body }: NewPost,
  nowMs: number,
): void {
  const postId = newId('alp_', nowMs);
  const sealed = secrets.encrypt(LABEL, JSON.stringify([accountId, postId]), url);
  void tx.query(insert, [accountId, postId, rule, kind, sealed, body, timestamp(nowMs)]);
}

/** The loop of one process. */
export function postLoop(core: Services): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: POSTS,
    places: POSTS_AT_ONCE,
    claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
    run: (job, signal) => send(core, job, signal),
    putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
  });
}

async function send(core: Services, job: LeasedJob, signal: AbortSignal): Promise<void> {
  const { db, secrets, outbound } = core;
  const { accountId, id, attempt } = job;
  const [post] = (await db.query<PostRow>(select, [accountId, id])).rows;
  if (post === undefined) return;
  const url = secrets.decrypt(LABEL, JSON.stringify([accountId, id]), post.sealed);
  const headers = post.kind === 'slack' ? slackHeaders : await signatureOf(core, job, post.body);
  const outcome = await outbound.post({ url, headers, body: post.body, signal });
  if (signal.aborted && outcome.kind === 'failed') throw new Error('the attempt was ended by this process');
  const verdict = verdictOf(outcome, attempt);
  await db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    if (typeof verdict === 'number') {
      const dueMs = nowMs + verdict;
      await due.setDue(tx, job, dueMs);
      await openTurn(tx, accountId, POSTS, dueMs, { later: true });
      return;
    }
    const { count } = await tx.query(remove, [accountId, id, attempt]);
    if (verdict === 'given up' && count === 1) addChange(tx, accountId, givenUp(post, url, outcome, nowMs), nowMs);
  });
}

const slackHeaders = { 'content-type': 'application/json', 'user-agent': 'Quartermaster-Webhooks/1' };

async function signatureOf({ db, secrets }: Services, { accountId, id }: LeasedJob, body: string) {
  const { current, previous } = await defaultSecret(db, secrets, accountId);
  return signedHeaders({ id, timestampMs: Date.now(), body }, previous === null ? [current] : [current, previous]);
}

/** Milliseconds until the next attempt. */
function verdictOf(outcome: OutboundOutcome, attempt: number): number | 'sent' | 'given up' {
  const isAnswered = outcome.kind === 'answered';
  if (isAnswered && outcome.status >= 200 && outcome.status < 300) return 'sent';
  const isRefused = isAnswered ? outcome.status === GONE : outcome.code === 'refused';
  const asked = isAnswered ? retryAfterMs(outcome.retryAfter, Date.now()) : null;
  return isRefused ? 'given up' : (pauseAfter('default', attempt, asked) ?? 'given up');
}

function givenUp({ rule, kind }: PostRow, url: string, outcome: OutboundOutcome, atMs: number) {
  const why = outcome.kind === 'answered' ? `it answered ${outcome.status}` : outcome.message;
  const to = kind === 'slack' ? maskedUrl(url) : url;
  return {
    rule,
    atMs,
    before: null,
    state: null,
    value: null,
    series: [],
    notices: 0,
    mails: 0,
    words: `A notice to ${to} was given up: ${why}`,
  };
}
