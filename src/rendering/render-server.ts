// Renders what other processes of the deployment ask for, at RENDER_PORT: the same works, places and bounds as for calls that are answered here.
import { once } from 'node:events';
import type { ListenOptions } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Admission } from '../core/admission.ts';
import type { Logger } from '../core/process/logger.ts';
import { Problem } from '../problems/problem.ts';
import { Channel, type ChannelBounds, createChannelServer } from './channel.ts';
import type { Rendering } from './rendering.ts';
import { FULL_CODES, type RenderOrder, type Said, type Told } from './wire.ts';

interface ServerOptions {
  readonly rendering: Pick<Rendering, 'workNamed'>;
  readonly psk: Buffer;
  readonly bounds: Pick<Admission, 'rendering'>;
  readonly log: Logger;
}

export class RenderServer {
  readonly #rendering: ServerOptions['rendering'];
  readonly #bounds: ChannelBounds;
  readonly #log: Logger;
  readonly #server: Server;
  readonly #orders = new Set<Promise<void>>();
  readonly #channels = new Set<Channel>();

  constructor({ rendering, psk, bounds, log }: ServerOptions) {
    this.#rendering = rendering;
    this.#bounds = bounds.rendering;
    this.#log = log;
    this.#server = createChannelServer(psk, bounds.rendering);
    this.#server.maxConnections = bounds.rendering.connectionsMax;
    this.#server.on('secureConnection', (socket) => this.#serve(socket));
  }

  async listen(options: ListenOptions): Promise<void> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(options);
    await listening;
  }

  /** Takes no more orders; resolves when those that there are have been answered, or after a few seconds. */
  async close(): Promise<void> {
    this.#server.close();
    const late = setTimeout(() => {
      for (const channel of this.#channels) channel.close();
    }, this.#bounds.closeWithinMs);
    await Promise.all(this.#orders);
    clearTimeout(late);
    for (const channel of this.#channels) channel.close();
  }

  #serve(socket: TLSSocket): void {
    const gone = new AbortController();
    const asking = new Map<number, PromiseWithResolvers<unknown>>();
    let hasOrder = false;
    const say = (said: Said) => channel.send(said);
    const ask = (question: unknown) => {
      gone.signal.throwIfAborted();
      const waiting = Promise.withResolvers<unknown>();
      const id = asking.size;
      asking.set(id, waiting);
      say({ kind: 'ask', id, question });
      return waiting.promise;
    };
    const onMessage = (message: unknown) => {
      const told = message as Told;
      if (told.kind === 'reply') asking.get(told.id)?.resolve(told.reply);
      else if (told.kind === 'refused') asking.get(told.id)?.reject(new Error(told.message));
      else if (!hasOrder) {
        hasOrder = true;
        const done = this.#render(told, ask, say, gone.signal);
        this.#orders.add(done);
        void done.finally(() => {
          this.#orders.delete(done);
          channel.end();
        });
      }
    };
    const onClose = () => {
      this.#channels.delete(channel);
      gone.abort();
      for (const waiting of asking.values()) waiting.reject(gone.signal.reason);
    };
    const channel = new Channel(socket, this.#bounds, { onMessage, onClose });
    this.#channels.add(channel);
  }

  /** Never throws. */
  async #render(
    { name, accountId, request }: RenderOrder,
    ask: (question: unknown) => Promise<unknown>,
    say: (said: Said) => void,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const work = this.#rendering.workNamed(name);
      if (work === undefined) throw new Error(`nothing here renders ${name}: the processes run different versions`);
      say({ kind: 'done', answer: await work({ accountId, request, signal }, ask) });
    } catch (error) {
      if (signal.aborted) return;
      const code = FULL_CODES.find((full) => error instanceof Problem && error.code === full);
      if (code !== undefined) return say({ kind: 'full', code });
      this.#log.error({ err: error, name }, 'rendering for another process failed');
      say({ kind: 'failed', message: (error as Error).message });
    }
  }
}
