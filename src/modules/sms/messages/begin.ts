// Creation of a message: its row, hold and first event are one commit, together with the verification code it may carry. Messages of the last
// minute and codes of the last hour are counted under the wallet lock, so no account exceeds its tier.
import { openTurn } from '../../../core/background/turns.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { MINUTE_MS } from '../../../lib/time.ts';
import { problem } from '../../../problems/problem.ts';
import { LEASE_MS, SMS_WORK } from '../limits.ts';
import type { VerificationRow } from '../verify/row.ts';
import { countOfPrefix, sendInsertVerification } from '../verify/store.ts';
import { type MessageRow, smsRecord } from './row.ts';
import { countRecent, sendInsert } from './store.ts';

export interface NewMessage {
  readonly row: Omit<MessageRow, 'hold_id' | 'created_at' | 'due_at'>;
  /** Null: rates do not limit. */
  readonly perMinuteMax: number | null;
  readonly code: NewCode | null;
}

export interface NewCode {
  readonly row: Omit<VerificationRow, 'created_at' | 'expires_at'>;
  readonly ttlMs: number;
  /** Codes of the account to numbers of its prefix in an hour. */
  readonly prefixMax: number;
}

type Item = LaneItem<NewMessage, null>;

export const beginMessage: LaneEffect<NewMessage, null> = {
  name: 'sms.begin',
  // Codes of an account see one another.
  exclusiveKeys: ({ accountId, input }) => (input.code === null ? [] : [`${accountId}\ncode`]),
  read: readVerdicts,
  write,
};

async function readVerdicts(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<null>[]> {
  const accounts = [...new Set(items.map(({ accountId }) => accountId))].sort();
  const [recent, ofPrefix] = await Promise.all([
    countRecent(tx, accounts),
    Promise.all(
      items.map(({ accountId, input }) =>
        input.code === null ? 0 : countOfPrefix(tx, accountId, input.code.row.prefix),
      ),
    ),
  ]);
  const made = new Map(recent);
  return items.map(({ accountId, input: { perMinuteMax, code } }, i) => {
    const before = made.get(accountId) ?? 0;
    made.set(accountId, before + 1);
    if (perMinuteMax !== null && before >= perMinuteMax) return { kind: 'refuse', problem: tooMany(perMinuteMax) };
    if (code !== null && (ofPrefix[i] ?? 0) >= code.prefixMax) return { kind: 'refuse', problem: tooManyCodes(code) };
    return { kind: 'go', context: null };
  });
}

function write(tx: Transaction, items: readonly AdmittedItem<NewMessage, null>[], nowMs: number): string[] {
  return items.map(({ item: { accountId, requestId, input }, holdId }) => {
    // The call has the first step; another one takes over when its process dies.
    const row: MessageRow = { ...input.row, hold_id: holdId, created_at: nowMs, due_at: nowMs + LEASE_MS };
    const object = smsRecord(row);
    void sendInsert(tx, row);
    if (input.code !== null) {
      const { row: code, ttlMs } = input.code;
      void sendInsertVerification(tx, { ...code, created_at: nowMs, expires_at: nowMs + ttlMs });
    }
    void openTurn(tx, accountId, SMS_WORK, nowMs + LEASE_MS, { later: true });
    sendEvents(tx, [{ accountId, type: 'sms.queued', data: { object }, requestId }], nowMs);
    return JSON.stringify(object);
  });
}

function tooMany(most: number) {
  const message = `The account may send ${most} messages a minute.`;
  return problem('RATE_LIMITED', { detail: 'sms_per_minute', message, retryAfterMs: MINUTE_MS / 4 });
}

function tooManyCodes({ row: { prefix }, prefixMax }: NewCode) {
  const message = `The account may send ${prefixMax} codes an hour to numbers of +${prefix}.`;
  return problem('RATE_LIMITED', { detail: 'codes_per_prefix', message, retryAfterMs: 10 * MINUTE_MS });
}
