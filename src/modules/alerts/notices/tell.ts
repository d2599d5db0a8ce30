// Tells receivers of a rule, in the transaction of what it tells: mail goes into the outbox of the service, everything else into rows of its own.
import { openTurn } from '../../../core/background/turns.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { sendMail } from '../../../people/mail/mail.ts';
import { MAILS_AN_HOUR, NOTICES, POSTS, WAITING_MAX } from '../limits.ts';
import { confirmedAddresses, openHidden } from '../rules/notify.ts';
import { notifyOf, type RuleRow } from '../rules/row.ts';
import { mailOf, type Notice, noticeText, slackText } from './notice.ts';
import { addPost } from './posts.ts';

/** What was written, and what was not, in words. */
export interface Telling {
  readonly notices: number;
  readonly mails: number;
  readonly words: readonly string[];
}

const addNotice = statement(
  'alerts_add_notice',
  `INSERT INTO alerts.notice (account_id, notice_id, queue, payload, key_id, due_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);
const countWaiting = statement(
  'alerts_count_waiting',
  `SELECT (SELECT count(*) FROM (SELECT 1 FROM alerts.post p WHERE p.account_id = $1 LIMIT ${WAITING_MAX}) a)
        + (SELECT count(*) FROM (SELECT 1 FROM alerts.notice n WHERE n.account_id = $1 LIMIT ${WAITING_MAX}) b) AS waiting`,
);
const countMails = statement(
  'alerts_count_mails',
  `SELECT coalesce(sum(c.mails), 0)::int AS mails FROM alerts.change c
    WHERE c.account_id = $1 AND c.mails > 0 AND c.created_at > core.clock_now() - interval '1 hour'`,
);

interface Teller {
  readonly core: Pick<Services, 'secrets' | 'baseUrl'>;
  readonly accountId: string;
  readonly row: RuleRow;
  readonly nowMs: number;
}

/** Each receiver gets each notice. */
export async function tellNotices(tx: Transaction, teller: Teller, notices: readonly Notice[]): Promise<Telling> {
  const targets = notifyOf(teller.row);
  if (targets.length === 0 || notices.length === 0) return { notices: 0, mails: 0, words: [] };
  const room = await roomOf(tx, teller.accountId, targets);
  const hidden = openHidden(teller.core.secrets, teller.accountId, teller.row);
  const words = new Set<string>();
  let [told, mails] = [0, 0];
  for (const notice of notices) {
    for (const [i, { kind, to }] of targets.entries()) {
      if (kind === 'email') {
        if (!room.addresses.has(to))
          words.add(`Not mailed to ${to}: it is no confirmed address of the account any more.`);
        else if (room.mails <= mails)
          words.add(`Not mailed: an account gets ${MAILS_AN_HOUR} mails of alerts an hour.`);
        else {
          const { core, accountId, row, nowMs } = teller;
          await sendMail(tx, { to, accountId, ...mailOf(row, notice, core.baseUrl) }, nowMs);
          mails += 1;
          told += 1;
        }
      } else if (room.waiting <= told - mails) {
        words.add(`Not told to all: ${WAITING_MAX} notices wait for receivers that do not answer.`);
      } else {
        sendLater(tx, teller, notice, { kind, to: hidden[i] ?? to });
        told += 1;
      }
    }
  }
  return { notices: told, mails, words: [...words] };
}

async function roomOf(tx: Queryable, accountId: string, targets: readonly { readonly kind: string }[]) {
  const hasMail = targets.some(({ kind }) => kind === 'email');
  const [addresses, mails, waiting] = await Promise.all([
    hasMail ? confirmedAddresses(tx, accountId) : new Set<string>(),
    hasMail ? tx.query<{ mails: number }>(countMails, [accountId]) : null,
    tx.query<{ waiting: bigint }>(countWaiting, [accountId]),
  ]);
  return {
    addresses,
    mails: MAILS_AN_HOUR - (mails?.rows[0]?.mails ?? 0),
    waiting: WAITING_MAX - Number(waiting.rows[0]?.waiting ?? 0),
  };
}

/** Sends the rows without waiting. */
function sendLater(
  tx: Transaction,
  { core, accountId, row, nowMs }: Teller,
  notice: Notice,
  { kind, to }: { readonly kind: 'url' | 'queue' | 'slack' | 'email'; readonly to: string },
): void {
  if (kind === 'queue') {
    const payload = noticeText(row, notice, core.baseUrl);
    void tx.query(addNotice, [accountId, newId('aln_', nowMs), to, payload, row.key_id, timestamp(nowMs)]);
    void openTurn(tx, accountId, NOTICES, nowMs);
    return;
  }
  const body = kind === 'slack' ? slackText(row, notice, core.baseUrl) : noticeText(row, notice, core.baseUrl);
  addPost(
    tx,
    core.secrets,
    { accountId, rule: row.rule, kind: kind === 'slack' ? 'slack' : 'url', url: to, body },
    nowMs,
  );
  void openTurn(tx, accountId, POSTS, nowMs);
}
