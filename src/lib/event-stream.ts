// Server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) as text.

export interface SentEvent {
  readonly event?: string;
  readonly id?: string;
  /** Sent line by line. */
  readonly data: string;
}

export function eventText({ event, id, data }: SentEvent): string {
  const head = `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}`;
  return `${head}${data.replaceAll(/\r\n?/g, '\n').replaceAll(/^/gm, 'data: ')}\n\n`;
}

/** A line that clients pass over: it keeps the connection from being taken for dead. */
export function commentText(text: string): string {
  return `: ${text}\n\n`;
}

/** The pieces as they come and, whenever none has come for so long, `beat`. */
export async function* withHeartbeat<T>(pieces: AsyncIterable<T>, everyMs: number, beat: T): AsyncGenerator<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      next.catch(() => undefined);
      let piece = await within(next, everyMs);
      while (piece === null) {
        yield beat;
        piece = await within(next, everyMs);
      }
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Null when the promise takes longer. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
