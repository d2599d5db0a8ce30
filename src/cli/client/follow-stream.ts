// Follows a stream of Server-Sent Events across lost connections: each event's data once it has come.
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventsOf } from '../calls/stream.ts';
import { follow } from './follow.ts';
import { begin, readEnvelope, Unanswered } from './http.ts';
import type { Access } from './profile.ts';

/** The service sends something every 15 s. */
const SILENCE_MS = 60_000;
const AGAIN_AFTER_MS = 1_000;

/** @param tell is called with the data of each event, in order. Throws CallFailed for what is no stream. */
export async function followStream(to: Access, path: string, tell: (data: string) => void): Promise<never> {
  for await (const answer of follow(() => open(to, path), to.url)) {
    try {
      for await (const { data } of eventsOf(answer)) tell(data);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      process.stderr.write(`${error.message}; trying again\n`);
    }
    await sleep(AGAIN_AFTER_MS);
  }
  throw new Error('a stream that is followed has no end');
}

async function open(to: Access, path: string): Promise<IncomingMessage> {
  const answer = await begin(to, path, { headers: { accept: 'text/event-stream' }, silenceMs: SILENCE_MS });
  if (answer.headers['content-type']?.startsWith('text/event-stream') !== true) await readEnvelope(to.url, answer);
  return answer;
}
