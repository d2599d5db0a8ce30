// Limit on wrong user codes. After five from a session, or far more from an address, every code from it is refused for ten minutes. Each try
// counts as wrong until it is verified, so parallel tries gain nothing. An address is shared by many people, a session by nobody.

import { admission } from '../../core/admission.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { MINUTE_MS } from '../../lib/time.ts';

/** Of one session (contract, commerce). */
const OF_SESSION_MAX = 5;

/** Somebody, or some place, that wrong codes are counted of. */
export interface Guesser {
  readonly name: string;
  readonly wrongMax: number;
}

/** Of whom a try counts. `network`: the address, as one customer's. */
export function guessersOf(sessionId: string, network: string): readonly Guesser[] {
  return [
    { name: `session ${sessionId}`, wrongMax: OF_SESSION_MAX },
    { name: `address ${network}`, wrongMax: admission.address.wrongDeviceCodesMax },
  ];
}

const BLOCKED_MS = 10 * MINUTE_MS;

// Blocked guessers stay as they are: who goes on guessing is heard again all the same.
const countOne = statement(
  'device_guess_count',
  `INSERT INTO core.device_guess AS g (guesser, times, until) VALUES ($1, 1, $3)
       ON CONFLICT (guesser) DO UPDATE
      SET times = CASE WHEN g.until <= $2 THEN 1 WHEN g.times < $4 THEN g.times + 1 ELSE $4 + 1 END,
          until = CASE WHEN g.until > $2 AND g.times >= $4 THEN g.until ELSE excluded.until END
   RETURNING times, until`,
);
const takeBackOne = statement(
  'device_guess_take_back',
  'UPDATE core.device_guess SET times = times - 1 WHERE guesser = $1',
);
const deleteOld = statement('device_guess_delete_old', 'DELETE FROM core.device_guess WHERE until <= $1');

/**
 * Counts a try of all of them. Answers for how long they are blocked, in milliseconds; 0: the try is heard. Others that try at the same
 * time wait for the end of the transaction.
 */
export async function countGuess(tx: Transaction, guessers: readonly Guesser[], nowMs: number): Promise<number> {
  let blockedMs = 0;
  // One after the other, in one order: two that share two never wait for each other.
  for (const { name, wrongMax } of inOrder(guessers)) {
    const { rows } = await tx.query<{ times: number; until: number }>(countOne, [
      ...[name, timestamp(nowMs), timestamp(nowMs + BLOCKED_MS)],
      wrongMax,
    ]);
    const [row] = rows;
    if (row !== undefined && row.times > wrongMax) blockedMs = Math.max(blockedMs, row.until - nowMs);
  }
  return blockedMs;
}

/** The try was right. */
export async function takeBackGuess(tx: Transaction, guessers: readonly Guesser[]): Promise<void> {
  for (const { name } of inOrder(guessers)) await tx.query(takeBackOne, [name]);
}

function inOrder(guessers: readonly Guesser[]): Guesser[] {
  return [...guessers].sort((one, other) => (one.name < other.name ? -1 : 1));
}

export async function forgetGuesses(db: Queryable, nowMs: number): Promise<void> {
  await db.query(deleteOld, [timestamp(nowMs)]);
}
