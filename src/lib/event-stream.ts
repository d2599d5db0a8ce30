// Text encoding of server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html).

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
