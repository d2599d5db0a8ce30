// All that a program needs to use Quartermaster: one function over fetch. QM_URL and QM_KEY say where and as whom.

import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.QM_URL ?? 'http://127.0.0.1:8787';
const key = process.env.QM_KEY;

/** A service that restarts is back by then. */
const waitSeconds = Number(process.env.QM_WAIT_SECONDS ?? 30);

/**
 * Calls a capability, by POST with a body, else by GET, and answers its data. Calls that did not come through, and those that the service asks to repeat, are
 * repeated: give a call that must not happen twice an idempotency_key. A service that cannot be reached for QM_WAIT_SECONDS (30) ends the program.
 */
// biome-ignore lint/suspicious/noExplicitAny: the answer of whichever capability
export async function call(path: string, body?: object): Promise<any> {
  let lostAt: number | null = null;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    const answer = await ask(path, body).catch((error: Error) => {
      if (lostAt === null)
        console.error(`${url} cannot be reached (${reasonOf(error)}): trying again for ${waitSeconds} s`);
      lostAt ??= Date.now();
      return null;
    });
    if (answer !== null) lostAt = null;
    else if (Date.now() - (lostAt ?? 0) > waitSeconds * 1_000) endUnreachable();
    if (answer?.ok === true) return answer.data;
    if (answer !== null && !answer.error.retryable) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    await sleep(answer?.error.retry_after_ms ?? pauseMs);
  }
}

function reasonOf(error: Error): string {
  const { code, message } = (error.cause ?? error) as { code?: string; message: string };
  return code ?? message;
}

function endUnreachable(): never {
  console.error(`Quartermaster does not answer at ${url}. Start it with \`npm start\`, or set QM_URL to its address.`);
  process.exit(1);
}

interface Answer {
  readonly ok: boolean;
  readonly data: unknown;
  readonly error: { code: string; message: string; retryable: boolean; retry_after_ms?: number };
}

async function ask(path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  const response = await fetch(`${url}/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}
