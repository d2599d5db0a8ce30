// A connection of the Pusher protocol without a library: what it is told, frame by frame, and how it ends.
import { createHmac } from 'node:crypto';
import { type ClientOptions, WebSocket } from 'ws';

export interface App {
  readonly app_id: string;
  readonly app_key: string;
  readonly app_secret: string;
}

export interface Frame {
  readonly event: string;
  readonly channel?: string;
  // biome-ignore lint/suspicious/noExplicitAny: frames of every shape
  readonly data: any;
  readonly user_id?: string;
}

const WAIT_MS = 8_000;

export class PusherLine {
  readonly ws: WebSocket;
  socketId = '';
  /** What has come and nobody has waited for. */
  readonly heard: Frame[] = [];
  readonly ended: Promise<number>;
  #wake = () => {};

  private constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (bytes) => {
      const frame = JSON.parse(String(bytes));
      this.heard.push({ ...frame, data: parsed(frame.data) });
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      ws.on('close', (code) => {
        resolve(code);
        this.#wake();
      });
    });
    ws.on('error', () => this.#wake());
  }

  /** Resolves once it is established, or refused. */
  static async open(url: string, appKey: string, path = '/app/', options: ClientOptions = {}): Promise<PusherLine> {
    const line = new PusherLine(new WebSocket(`${url.replace('http', 'ws')}${path}${appKey}?protocol=7`, options));
    const first = await line.next(() => true);
    if (first.event === 'pusher:connection_established') line.socketId = first.data.socket_id;
    else line.heard.unshift(first);
    return line;
  }

  send(event: string, data: unknown, channel?: string): void {
    this.ws.send(JSON.stringify({ event, data, channel }));
  }

  /** The next frame that fits; those before it are dropped. */
  async next(fits: (frame: Frame) => boolean): Promise<Frame> {
    const untilMs = performance.now() + WAIT_MS;
    for (;;) {
      const at = this.heard.findIndex(fits);
      if (at !== -1) return this.heard.splice(0, at + 1).at(-1) as Frame;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) throw new Error(`nothing that fits came: ${JSON.stringify(this.heard).slice(0, 500)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  event(event: string): Promise<Frame> {
    return this.next((frame) => frame.event === event);
  }

  /** Waits for the end of it. Without an app it shows no signature. */
  async subscribe(channel: string, app?: App, member?: object): Promise<Frame> {
    const channelData = member === undefined ? undefined : JSON.stringify(member);
    const auth = app === undefined ? undefined : authOf(app, this.socketId, channel, channelData);
    this.send('pusher:subscribe', { channel, auth, channel_data: channelData });
    return this.next(
      (frame) =>
        frame.channel === channel &&
        ['pusher_internal:subscription_succeeded', 'pusher:subscription_error'].includes(frame.event),
    );
  }

  /** Waits until everything that was sent before has been handled. */
  async settled(): Promise<void> {
    this.send('pusher:ping', {});
    await this.event('pusher:pong');
  }

  close(): void {
    this.ws.close();
  }
}

export function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

export function authOf(app: App, socketId: string, channel: string, channelData?: string): string {
  const text = [socketId, channel, ...(channelData === undefined ? [] : [channelData])].join(':');
  return `${app.app_key}:${hmac(app.app_secret, text)}`;
}

function parsed(data: unknown): unknown {
  if (typeof data !== 'string') return data;
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
