// Reader of a service's Server-Sent Events, with a size limit for each event (html.spec.whatwg.org/multipage/server-sent-events.html).
import type { IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Unanswered } from '../client/http.ts';
import { CommandError, printable } from '../output.ts';

/** Of one event, and of what has come of the next one. */
const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** Throws CommandError for an event that is too long, and Unanswered when the connection breaks. */
export async function* eventsOf(answer: IncomingMessage): AsyncGenerator<EventSourceMessage> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: (event) => ready.push(event),
    onError: (cause) => {
      if (cause.type !== 'max-buffer-size-exceeded') return;
      throw new CommandError(`an event is longer than ${EVENT_CHARACTERS_MAX} characters`, { cause });
    },
  });
  answer.setEncoding('utf8');
  const pieces = (answer as AsyncIterable<string>)[Symbol.asyncIterator]();
  for (;;) {
    const piece = await pieces.next().catch((cause) => {
      throw new Unanswered('the connection was lost', cause, true);
    });
    if (piece.done === true) return;
    parser.feed(piece.value);
    yield* ready.splice(0);
  }
}

/** A line of each event's data. */
export async function printStream(answer: IncomingMessage): Promise<void> {
  for await (const { data } of eventsOf(answer)) process.stdout.write(`${printable(data)}\n`);
}
