// Lists of tools that a server answers, without those that may not be called: as JSON, or among its events.
import { createParser } from 'eventsource-parser';
import { eventText } from '../../../lib/event-stream.ts';
import { problem } from '../../../problems/problem.ts';
import type { TargetAnswer } from '../calls/relay.ts';
import { MCP_BYTES_MAX } from '../limits.ts';
import { withoutTools } from './message.ts';

export function listedTools(tools: readonly string[]): (answer: TargetAnswer) => AsyncIterable<Buffer> {
  return ({ headers, body }) =>
    String(headers['content-type'] ?? '').startsWith('text/event-stream') ? ofEvents(body, tools) : ofText(body, tools);
}

async function* ofText(body: AsyncIterable<Buffer>, tools: readonly string[]): AsyncGenerator<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MCP_BYTES_MAX) throw tooLong();
    pieces.push(piece);
  }
  yield Buffer.from(withoutTools(Buffer.concat(pieces).toString('utf8'), tools));
}

async function* ofEvents(body: AsyncIterable<Buffer>, tools: readonly string[]): AsyncGenerator<Buffer> {
  const read: string[] = [];
  let bytes = 0;
  const parser = createParser({
    onEvent({ event, id, data }) {
      bytes = 0;
      const kept = withoutTools(data, tools);
      read.push(
        eventText({ ...(event === undefined ? {} : { event }), ...(id === undefined ? {} : { id }), data: kept }),
      );
    },
  });
  const decoder = new TextDecoder();
  for await (const piece of body) {
    bytes += piece.length;
    parser.feed(decoder.decode(piece, { stream: true }));
    if (bytes > MCP_BYTES_MAX) throw tooLong();
    const text = read.splice(0).join('');
    if (text !== '') yield Buffer.from(text);
  }
}

function tooLong() {
  return problem('TARGET_FAILED', {
    detail: 'protocol',
    message: `The list of tools has more than ${MCP_BYTES_MAX / 1_048_576} MiB.`,
  });
}
