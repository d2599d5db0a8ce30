// A request whose body is announced and never sent: what is too long by its head alone is refused at once.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { Reply } from '../support/service.ts';

interface Announced {
  readonly method: string;
  readonly path: string;
  readonly secret: string;
  readonly bytes: number;
}

export async function announceBody(url: string, { method, path, secret, bytes }: Announced): Promise<Reply> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'content-length': bytes };
  const sent = request(url + path, { method, headers, agent: false });
  sent.flushHeaders();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await textOf(answer);
  sent.destroy();
  const received = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return { status: answer.statusCode ?? 0, headers: new Headers(received), text, body: JSON.parse(text) };
}
