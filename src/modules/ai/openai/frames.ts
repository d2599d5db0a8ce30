// A chat as server-sent events: chunks as they come, the last of them with what the call has cost, then [DONE]; a failure is one line, and the end.
import type { WireObject } from '../../../lib/chat/body.ts';
import { commentText, eventText } from '../../../lib/event-stream.ts';
import { errorOf } from '../../../manifest/openai-wire.ts';
import { Problem } from '../../../problems/problem.ts';
import type { ChatEnd, ChatEvent } from '../calls/chat-event.ts';
import { problem } from '../problems.ts';

export interface Framing {
  /** The client has asked for a chunk of usage: it is the last then. */
  readonly showsUsage: boolean;
  /** Nothing has come for so long that the headers go out alone. */
  readonly isLate: boolean;
  endMetadata(end: ChatEnd): object;
  failureMetadata(): object | null;
}

export async function* framesOf(
  first: Promise<IteratorResult<ChatEvent, void>>,
  events: AsyncGenerator<ChatEvent, void>,
  { showsUsage, isLate, endMetadata, failureMetadata }: Framing,
): AsyncGenerator<string, void> {
  // The chunk that says why the answer ends waits: what it cost is told in it.
  let held: WireObject | null = null;
  let head: WireObject = {};
  try {
    if (isLate) yield commentText('waiting');
    for (let next = await first; next.done !== true; next = await events.next()) {
      const event = next.value;
      if (event.kind === 'chunk') {
        if (held !== null) yield frame(held);
        head = event.chunk;
        held = !showsUsage && isLast(event.chunk) ? event.chunk : null;
        if (held === null) yield frame(event.chunk);
      } else if (event.kind === 'end') {
        const last = showsUsage ? { ...head, choices: [], usage: event.usage } : (held ?? { ...head, choices: [] });
        yield frame({ ...last, service_metadata: endMetadata(event) });
        yield eventText({ data: '[DONE]' });
      }
    }
  } catch (error) {
    const isOurs = error instanceof Problem;
    const failure = isOurs ? error : problem('INTERNAL_ERROR');
    yield frame({ error: errorOf(failure, failure.param ?? null), service_metadata: failureMetadata() });
    if (!isOurs) throw error;
  } finally {
    await events.return();
  }
}

function frame(body: WireObject): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function isLast({ choices }: WireObject): boolean {
  return Array.isArray(choices) && choices.some((choice) => choice?.finish_reason != null);
}
