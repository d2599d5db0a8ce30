// The least that a relay in Node does with a stream of JSON: reads each piece, writes it with another model's name, and knows nothing else. To
// compare with, in a process of its own.
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const vendorPort = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

function renamed(frame: string): string {
  if (!frame.startsWith('data: {')) return frame;
  return `data: ${JSON.stringify({ ...JSON.parse(frame.slice(6)), model: 'double/m-1' })}`;
}

const server = createServer((incoming, answer) => {
  const to = { host: '127.0.0.1', port: vendorPort, method: 'POST', path: incoming.url, agent };
  const outgoing = request({ ...to, headers: { 'content-type': 'application/json' } }, (reply) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.setEncoding('utf8');
    reply.on('data', (text: string) => void answer.write(text.split('\n\n').map(renamed).join('\n\n')));
    reply.on('end', () => void answer.end());
  });
  incoming.pipe(outgoing);
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
