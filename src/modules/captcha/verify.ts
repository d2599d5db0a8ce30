// A verification: whether a solution is right is computed before the lane; whether it has expired or counted already is decided in the
// commit that charges for it, under the wallet's lock. So of any number of calls with one solution, in any processes, one is `ok`.
import type { CallContext } from '../../core/context.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import { type ChargedAnswer, chargeInLane } from '../../core/wallet/charge/charge.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../core/wallet/ledger/accepted-units.ts';
import { textArray, timestampArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { iso } from '../../lib/time.ts';
import { VERIFICATION_BYTES } from './limits.ts';
import { type Expectation, type Judgement, judge, type Reason } from './solution.ts';
import { sendTally } from './tally.ts';

/** Account and challenge of each solution that has counted. */
type Spent = ReadonlySet<string>;
type Item = LaneItem<Judgement, Spent>;
type Admitted = AdmittedItem<Judgement, Spent>;

const findSpent = statement(
  'captcha_find_spent',
  `SELECT s.account_id, s.challenge_id FROM captcha.spent s
    WHERE s.account_id = ANY($1::text[]) AND s.challenge_id = ANY($2::text[])`,
);
const insertSpent = statement(
  'captcha_insert_spent',
  `INSERT INTO captcha.spent AS s (account_id, challenge_id, expires_at)
   SELECT w.account_id, u.challenge_id, u.expires_at
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::timestamptz[]) u(account_id, challenge_id, expires_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

const verification: LaneEffect<Judgement, Spent> = { name: 'captcha.verify', exclusiveKeys: () => [], read, write };

/** Charges for a verification, whatever it finds. */
export async function verify(ctx: CallContext, payload: string, expected: Expectation): Promise<ChargedAnswer> {
  const input = await judge(ctx, payload, expected);
  return chargeInLane(ctx, {
    ...{ units: 1n, effect: verification, input },
    ...{ sequences: 0, bytes: VERIFICATION_BYTES, rows: 1 },
  });
}

async function read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<Spent>[]> {
  const ids = items.flatMap(({ input }) => (input.reason === 'ok' ? [input.challenge?.id ?? ''] : []));
  const { rows } =
    ids.length === 0
      ? { rows: [] }
      : await tx.query<{ account_id: string; challenge_id: string }>(findSpent, [accountsOf(items), textArray(ids)]);
  const context = new Set(rows.map(({ account_id, challenge_id }) => solutionKey(account_id, challenge_id)));
  return items.map(() => ({ kind: 'go', context }));
}

interface NewlySpent {
  readonly accountId: string;
  readonly id: string;
  readonly expiresAtMs: number;
}

function write(tx: Transaction, admitted: readonly Admitted[], nowMs: number): string[] {
  const counted = new Set(admitted.flatMap(({ context }) => [...context]));
  const spent: NewlySpent[] = [];
  const items = admitted.map(({ item }) => item);
  const records = items.map(({ accountId, input }) => {
    const reason = reasonOf(accountId, input, counted, nowMs);
    if (reason === 'ok' && input.challenge !== null) {
      counted.add(solutionKey(accountId, input.challenge.id));
      spent.push({ accountId, ...input.challenge });
    }
    return verificationRecord(input, reason, nowMs);
  });
  if (spent.length > 0) sendSpent(tx, spent);
  sendTally(
    tx,
    items.map(({ accountId }, i) => ({ accountId, reason: (records[i] as VerificationRecord).reason })),
    nowMs,
  );
  void countAccepted(tx, items);
  const told = items.map(({ accountId, requestId }, i) => {
    const object = records[i] as VerificationRecord;
    return { accountId, requestId, data: { object }, type: object.success ? 'captcha.verified' : 'captcha.failed' };
  });
  sendEvents(tx, told, nowMs);
  return records.map((record) => JSON.stringify(record));
}

function reasonOf(accountId: string, { reason, challenge }: Judgement, counted: Spent, nowMs: number): Reason {
  if (reason !== 'ok' || challenge === null) return reason;
  if (challenge.expiresAtMs <= nowMs) return 'expired';
  return counted.has(solutionKey(accountId, challenge.id)) ? 'replayed' : 'ok';
}

/** Verification. */
function verificationRecord({ challenge, tookMs }: Judgement, reason: Reason, nowMs: number) {
  return {
    success: reason === 'ok',
    reason,
    challenge_id: challenge?.id ?? null,
    action: challenge?.action ?? null,
    difficulty: challenge?.difficulty ?? null,
    hostname: challenge?.hostname ?? null,
    challenge_at: challenge === null ? null : iso(challenge.created * 1_000),
    took_ms: tookMs,
    verified_at: iso(nowMs),
  };
}

export type VerificationRecord = ReturnType<typeof verificationRecord>;

function sendSpent(tx: Transaction, spent: readonly NewlySpent[]): void {
  void tx.query(insertSpent, [
    accountsOf(spent),
    textArray(spent.map(({ accountId }) => accountId)),
    textArray(spent.map(({ id }) => id)),
    timestampArray(spent.map(({ expiresAtMs }) => expiresAtMs)),
  ]);
}

function accountsOf(items: readonly { readonly accountId: string }[]): Buffer {
  return textArray([...new Set(items.map(({ accountId }) => accountId))].sort());
}

function solutionKey(accountId: string, challengeId: string): string {
  return `${accountId}\n${challengeId}`;
}
