// A vendor of language models as a process of its own. The words of the last message say what it streams: `PIECES EVERY_MS`. Its first content
// goes out with the head of its answer.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };

function frame(choices: readonly object[], more: object = {}): string {
  const head = { id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1_767_225_600, model: 'm-1' };
  return `data: ${JSON.stringify({ ...head, system_fingerprint: 'fp_0123456789', choices, ...more })}\n\n`;
}
const opening = frame([{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }]);
const piece = frame([{ index: 0, delta: { content: ' boat' }, logprobs: null, finish_reason: null }]);
const ending = `${frame([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }])}${frame([], { usage })}data: [DONE]\n\n`;

function say(response: ServerResponse, pieces: number, everyMs: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(opening + piece);
  let left = pieces - 1;
  const timer = setInterval(() => {
    if (left > 0) response.write(piece);
    else response.end(ending);
    left -= 1;
  }, everyMs);
  response.on('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { messages } = JSON.parse(Buffer.concat(parts).toString('utf8'));
    const [pieces, everyMs] = String(messages.at(-1).content).split(' ').map(Number);
    say(response, pieces as number, everyMs as number);
  });
});
server.keepAliveTimeout = 120_000;
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
