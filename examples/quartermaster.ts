// All that a program needs to use Quartermaster: one function over fetch. QM_URL and QM_KEY say where and as whom.

import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.QM_URL ?? 'http://127.0.0.1:8787';
const key = process.env.QM_KEY;

/**
 * Calls a capability, by POST with a body, else by GET, and answers its data. Calls that did not come through, and those that the service asks to repeat, are
 * repeated: give a call that must not happen twice an idempotency_key.
 */
// biome-ignore lint/suspicious/noExplicitAny: the answer of whichever capability
export async function call(path: string, body?: object): Promise<any> {
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    const answer = await ask(path, body).catch(() => null);
    if (answer?.ok === true) return answer.data;
    if (answer !== null && !answer.error.retryable) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    await sleep(answer?.error.retry_after_ms ?? pauseMs);
  }
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
