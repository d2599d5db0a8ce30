// Serves the page of a call, and keeps the key: who may join whom is decided here. Open http://127.0.0.1:3000/?me=ana and the same as ben.
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '', PORT = '3000' } = process.env;
const library = createRequire(import.meta.url).resolve('pusher-js/dist/web/pusher.min.js');
const calls: Readonly<Record<string, string>> = { '/token': '/v1/rtc/token', '/auth': '/v1/realtime/authorize' };

async function call(path: string, request: IncomingMessage): Promise<string> {
  const body = Buffer.concat(await request.toArray()).toString();
  const headers = { authorization: `Bearer ${QM_KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(QM_URL + path, { method: 'POST', headers, body });
  const { data, error } = (await answer.json()) as { data?: object; error?: { message: string } };
  if (data === undefined) throw new Error(error?.message);
  return JSON.stringify(data);
}

const server = createServer((request, response) => {
  const path = calls[request.url ?? ''];
  const fail = (error: Error) => response.writeHead(502).end(JSON.stringify({ error: error.message }));
  if (path !== undefined && request.method === 'POST') call(path, request).then((text) => response.end(text), fail);
  else if (request.url === '/pusher.js')
    createReadStream(library).pipe(response.setHeader('content-type', 'text/javascript'));
  else createReadStream(new URL('call.html', import.meta.url)).pipe(response.setHeader('content-type', 'text/html'));
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
);
