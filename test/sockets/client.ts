// A WebSocket client of the tests: what it is told, and how it ends.
import { type ClientOptions, WebSocket } from 'ws';
import { openRaw, type RawConnection } from '../support/raw.ts';

export interface Ended {
  readonly code: number;
  readonly reason: string;
}

export interface Line {
  readonly ws: WebSocket;
  /** Sends, and answers the next message. Throws when the socket closes before one. */
  ask(text: string): Promise<string>;
  next(): Promise<string>;
  readonly ended: Promise<Ended>;
}

export interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any;
}

const socketUrl = (url: string, path: string) => `${url.replace('http:', 'ws:')}${path}`;

/** Throws what it was refused with. */
export function openLine(
  url: string,
  path: string,
  secret: string | null,
  { headers, protocols = [], ...rest }: ClientOptions & { readonly protocols?: string[] } = {},
): Promise<Line> {
  const authorization: Record<string, string> = secret === null ? {} : { authorization: `Bearer ${secret}` };
  return lineOf(new WebSocket(socketUrl(url, path), protocols, { ...rest, headers: { ...authorization, ...headers } }));
}

function lineOf(ws: WebSocket): Promise<Line> {
  const heard: string[] = [];
  const wanting: PromiseWithResolvers<string>[] = [];
  ws.on('message', (data) => {
    const text = String(data);
    const want = wanting.shift();
    if (want === undefined) heard.push(text);
    else want.resolve(text);
  });
  const next = () => {
    const text = heard.shift();
    if (text !== undefined) return Promise.resolve(text);
    const want = Promise.withResolvers<string>();
    wanting.push(want);
    return want.promise;
  };
  const ended = new Promise<Ended>((resolve) => {
    ws.on('close', (code, reason) => {
      for (const want of wanting.splice(0)) want.reject(new Error(`closed with ${code} ${reason}`));
      resolve({ code, reason: String(reason) });
    });
  });
  const ask = (text: string) => {
    ws.send(text);
    return next();
  };
  return new Promise((resolve, reject) => {
    ws.on('error', reject);
    ws.on('open', () => resolve({ ws, ask, next, ended }));
    ws.on('unexpected-response', (_request, answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        const refused: Refused = { status: answer.statusCode ?? 0, headers: answer.headers, body: JSON.parse(text) };
        reject(refused);
      });
    });
  });
}

/** What the handshake was refused with. */
export async function refusalOf(opening: Promise<Line>): Promise<Refused> {
  const line = await opening.catch((refused: Refused) => refused);
  if ('status' in line) return line;
  line.ws.terminate();
  throw new Error('it was not refused');
}

/** The bytes of a handshake, but for its empty line. */
export function handshake(path: string, secret: string, more = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${secret}\r\n${more}`;
}

/** A frame as a client sends it, with a mask of zeros. */
export function frame(opcode: number, payload: Buffer, isFinal = true): Buffer {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extended + 4);
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** An accepted socket on a connection that the test writes the bytes of. */
export async function openBare(url: string, path: string, secret: string): Promise<RawConnection> {
  const raw = await openRaw(url);
  raw.send(`${handshake(path, secret)}\r\n`);
  const answer = await raw.receive();
  if (!answer.startsWith('HTTP/1.1 101')) throw new Error(answer);
  return raw;
}
