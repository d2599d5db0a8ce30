// Entry point of the token-counting thread. Its tables take a third of a second to load, and long texts take milliseconds, too long for the
// event loop.
import { parentPort } from 'node:worker_threads';
import { countTokensInTurns, type TokenPiece, tokenPieces } from './tokens.ts';

export interface Question {
  readonly id: number;
  readonly texts: readonly string[];
  /** Their pieces are wanted, not only how many there are. */
  readonly inPieces: boolean;
}

/** For each text. */
export interface Reply {
  readonly id: number;
  readonly counts: readonly number[];
  readonly pieces: readonly (readonly TokenPiece[])[];
}

parentPort?.on('message', async ({ id, texts, inPieces }: Question) => {
  const pieces: TokenPiece[][] = [];
  const counts: number[] = [];
  for (const text of texts) {
    if (inPieces) pieces.push(await tokenPieces(text));
    else counts.push(await countTokensInTurns(text));
  }
  parentPort?.postMessage({ id, counts, pieces } satisfies Reply);
});
