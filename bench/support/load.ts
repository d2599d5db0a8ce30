// A load generator that costs little itself: raw sockets, prepared requests, one outstanding call per connection.
// A general-purpose client takes as much processor time per call as the service, and would measure itself on two cores.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Flow {
  /** The next request of a connection; null ends it. */
  next(connection: number): Buffer | null;
  /** The answer to it. */
  answered?(connection: number, status: number, body: Buffer): void;
}

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly flow: Flow;
}

export interface LoadResult {
  readonly calls: number;
  readonly seconds: number;
  /** Calls per second. */
  readonly rate: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Bytes of a POST with a JSON body. */
export function post(url: string, path: string, secret: string, body: string, headers = ''): Buffer {
  const { host } = new URL(url);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Bytes of a GET. */
export function get(url: string, pathAndQuery: string, secret: string): Buffer {
  const { host } = new URL(url);
  return Buffer.from(`GET ${pathAndQuery} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
}

/** Runs the flow on new connections until the time is over; calls under way are finished and counted. */
export async function load({ url, connections, ...run }: LoadOptions): Promise<LoadResult> {
  const lines = await openLines(url, connections);
  const result = await loadOn(lines, run);
  for (const line of lines) line.end();
  return result;
}

export function openLines(url: string, connections: number): Promise<Line[]> {
  return Promise.all(Array.from({ length: connections }, () => Line.open(url)));
}

/** The same on connections that are open. */
export async function loadOn(
  lines: readonly Line[],
  { seconds, flow }: Pick<LoadOptions, 'seconds' | 'flow'>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let failed = 0;
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  const one = (line: Line, index: number) =>
    new Promise<void>((resolve, reject) => {
      let sentMs = 0;
      const send = () => {
        const request = performance.now() < endMs ? flow.next(index) : null;
        if (request === null) {
          resolve();
          return;
        }
        sentMs = performance.now();
        line.send(request, answered, reject);
      };
      const answered = (status: number, body: Buffer) => {
        latencies.push(performance.now() - sentMs);
        if (status !== 200) failed += 1;
        flow.answered?.(index, status, body);
        send();
      };
      send();
    });
  await Promise.all(lines.map(one));
  const elapsed = (performance.now() - startedMs) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    calls: latencies.length,
    seconds: elapsed,
    rate: latencies.length / elapsed,
    failed,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

export interface PaceOptions {
  readonly url: string;
  readonly perSecond: number;
  readonly next: () => Buffer;
  readonly ended: AbortSignal;
}

const PACE_PAUSE_MS = 2;

/** Sends so many calls a second until told to end, however long the answers take; answers how many were answered a second. */
export async function pace({ url, perSecond, next, ended }: PaceOptions): Promise<number> {
  const idle: Line[] = [];
  const lines: Line[] = [];
  const startedMs = performance.now();
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  while (!ended.aborted) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond);
    for (; sent < due; sent += 1) {
      const line = idle.pop() ?? new Line(url);
      if (!lines.includes(line)) lines.push(line);
      const call = new Promise<number>((resolve, reject) => line.send(next(), resolve, reject)).then((status) => {
        if (status !== 200) throw new Error(`a paced call was answered with ${status}`);
        idle.push(line);
      });
      underWay.add(call);
      call.then(
        () => underWay.delete(call),
        () => undefined,
      );
    }
    await sleep(PACE_PAUSE_MS);
  }
  await Promise.all(underWay);
  for (const line of lines) line.end();
  return sent / ((performance.now() - startedMs) / 1000);
}

/** One connection, one call at a time. */
export class Line {
  readonly #socket: Socket;
  #answered: (status: number, body: Buffer) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  constructor(url: string) {
    const { port, hostname } = new URL(url);
    const reader = new ResponseReader((status, body) => this.#answered(status, body));
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => reader.add(chunk));
    this.#socket.on('error', (error) => this.#failed(error));
    this.#socket.on('close', () => this.#failed(new Error('the connection has ended')));
  }

  static async open(url: string): Promise<Line> {
    const line = new Line(url);
    await once(line.#socket, 'connect');
    return line;
  }

  send(request: Buffer, answered: (status: number, body: Buffer) => void, failed: (error: Error) => void): void {
    this.#answered = answered;
    this.#failed = failed;
    this.#socket.write(request);
  }

  end(): void {
    this.#socket.end();
  }
}

/** Reads responses with Content-Length, one after the other. */
export class ResponseReader {
  readonly #done: (status: number, body: Buffer, headers: string) => void;
  #pending: Buffer = Buffer.alloc(0);

  constructor(done: (status: number, body: Buffer, headers: string) => void) {
    this.#done = done;
  }

  add(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#takeOne());
  }

  #takeOne(): boolean {
    const head = this.#pending.indexOf('\r\n\r\n');
    if (head === -1) return false;
    const headers = this.#pending.toString('latin1', 0, head);
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
    const end = head + 4 + length;
    if (this.#pending.length < end) return false;
    const body = this.#pending.subarray(head + 4, end);
    this.#pending = this.#pending.subarray(end);
    this.#done(Number(headers.slice(9, 12)), body, headers);
    return true;
  }
}
