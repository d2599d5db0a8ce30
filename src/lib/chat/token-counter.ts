// Counts tokens of texts in a dedicated thread, which starts at the first count and stays. Texts take turns there.
import { Worker } from 'node:worker_threads';
import type { Question, Reply } from './token-thread.ts';
import type { TokenPiece } from './tokens.ts';

type Asked = PromiseWithResolvers<Reply>;

let thread: Worker | null = null;
const asked = new Map<number, Asked>();
let asks = 0;

/** Tokens of the text, as `countTokens` has them. Fails when the thread ends. */
export async function tokensIn(text: string): Promise<number> {
  const [count = 0] = await tokensOfAll([text]);
  return count;
}

/** Of each text. */
export async function tokensOfAll(texts: readonly string[]): Promise<readonly number[]> {
  return (await ask(texts, false)).counts;
}

/** The text in pieces of one token, or of as many as make whole characters; with the tokens of each. */
export async function tokenPiecesOf(text: string): Promise<readonly TokenPiece[]> {
  const { pieces } = await ask([text], true);
  return pieces[0] ?? [];
}

function ask(texts: readonly string[], inPieces: boolean): Promise<Reply> {
  thread ??= startThread();
  asks += 1;
  const waiting = Promise.withResolvers<Reply>();
  asked.set(asks, waiting);
  thread.ref();
  thread.postMessage({ id: asks, texts, inPieces } satisfies Question);
  return waiting.promise;
}

function startThread(): Worker {
  const worker = new Worker(new URL('./token-thread.ts', import.meta.url));
  worker.on('message', (reply: Reply) => {
    asked.get(reply.id)?.resolve(reply);
    asked.delete(reply.id);
    if (asked.size === 0) worker.unref();
  });
  worker.on('error', (error) => endThread(worker, error));
  worker.on('exit', (code) => endThread(worker, new Error(`the thread that counts tokens ended with code ${code}`)));
  return worker;
}

function endThread(worker: Worker, error: unknown): void {
  if (thread !== worker) return;
  thread = null;
  for (const { reject } of asked.values()) reject(error);
  asked.clear();
}
