// Connections to several processes behind one port, each of which stays with the process that accepted it.
import { type Agent, request } from 'node:http';
import type { Place } from '../support/process.ts';
import type { Answer } from './pair.ts';

/** A connection of its own, which stays with one worker. */
export interface Line {
  readonly agent: Agent;
  readonly worker: string;
}

/** Calls of the service at the place, each on the connection of its agent; they tell which worker has answered. */
export function sendTo(place: () => Place) {
  return function send(agent: Agent, secret: string, method: string, path: string, body?: object, more = {}) {
    return new Promise<Answer & { text: string; worker: string; rate: string }>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${secret}`,
        ...(body && { 'content-type': 'application/json' }),
        ...more,
      };
      const sent = request(place().url + path, { method, agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const parsed = text.startsWith('{') ? JSON.parse(text) : null;
          const { headers: answered, statusCode: status = 0 } = response;
          const worker = parsed?.metadata?.worker_id ?? '';
          resolve({ status, text, body: parsed, worker, rate: String(answered.ratelimit) });
        });
        response.on('error', reject);
      });
      sent.on('error', reject).end(body && JSON.stringify(body));
    });
  };
}
