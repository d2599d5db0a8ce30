// When an answer is out or its client has left.
import type { ServerResponse } from 'node:http';

/** Calls `listener` once, at once when it is over already: an event that has fired does not fire again. */
export function onClosed(response: ServerResponse, listener: () => void): void {
  if (response.destroyed || response.closed) listener();
  else response.once('close', listener);
}
