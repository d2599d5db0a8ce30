// Wrong user codes: five from a session, or from an address, and neither is heard for ten minutes, whatever it sends and however much at
// once. Each try counts as wrong until it has been found to be right.
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { MINUTE_MS } from '../../lib/time.ts';

export const WRONG_CODES_MAX = 5;
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
export async function countGuess(tx: Transaction, guessers: readonly string[], nowMs: number): Promise<number> {
  let blockedMs = 0;
  // One after the other, in one order: two that share two never wait for each other.
  for (const guesser of [...guessers].sort()) {
    const { rows } = await tx.query<{ times: number; until: number }>(countOne, [
      ...[guesser, new Date(nowMs), new Date(nowMs + BLOCKED_MS)],
      WRONG_CODES_MAX,
    ]);
    const [row] = rows;
    if (row !== undefined && row.times > WRONG_CODES_MAX) blockedMs = Math.max(blockedMs, row.until - nowMs);
  }
  return blockedMs;
}

/** The try was right. */
export async function takeBackGuess(tx: Transaction, guessers: readonly string[]): Promise<void> {
  for (const guesser of [...guessers].sort()) await tx.query(takeBackOne, [guesser]);
}

export async function forgetGuesses(db: Queryable, nowMs: number): Promise<void> {
  await db.query(deleteOld, [new Date(nowMs)]);
}
