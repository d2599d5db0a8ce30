// When an answer is out or its client has left. Node tells the response only while it has the socket: the answer to a
// pipelined request that still waits for its turn never closes, so the connection is listened to as well.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One listener per connection, however many requests are pipelined on it. */
const queued = new WeakMap<Socket, Set<() => void>>();

/** Calls `listener` once, at once when it is over already: an event that has fired does not fire again. */
export function onClosed(request: IncomingMessage, response: ServerResponse, listener: () => void): void {
  const { socket } = request;
  if (response.destroyed || response.closed || socket.destroyed) {
    listener();
    return;
  }
  if (response.socket !== null) {
    response.once('close', listener);
    return;
  }
  const waiting = waitingOn(socket);
  const once = () => {
    if (waiting.delete(once)) listener();
  };
  waiting.add(once);
  response.once('close', once);
}

function waitingOn(socket: Socket): Set<() => void> {
  let waiting = queued.get(socket);
  if (waiting === undefined) {
    const listeners = new Set<() => void>();
    queued.set(socket, listeners);
    socket.once('close', () => {
      for (const listener of [...listeners]) listener();
    });
    waiting = listeners;
  }
  return waiting;
}
