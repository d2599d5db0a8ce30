// Asks other processes to render. Each order has a connection of its own: it goes to the one of them that has the fewest of ours, else to the next.
import { AccountPlaces } from '../core/account-places.ts';
import type { Admission } from '../core/admission.ts';
import { problem } from '../problems/problem.ts';
import { Channel, type ChannelBounds, connectChannel } from './channel.ts';
import { FULL_CODES, type RenderOrder, type RenderWork, type Said, type Told } from './wire.ts';

const RETRY_AFTER_MS = 1_000;

export interface RendererAddress {
  readonly host: string;
  readonly port: number;
}

interface Renderer extends RendererAddress {
  orders: number;
}

export class Renderers {
  readonly #all: readonly Renderer[];
  readonly #psk: Buffer;
  readonly #bounds: ChannelBounds;
  readonly #places: AccountPlaces;

  constructor(addresses: readonly RendererAddress[], psk: Buffer, { rendering }: Pick<Admission, 'rendering'>) {
    this.#all = addresses.map((address) => ({ ...address, orders: 0 }));
    this.#psk = psk;
    this.#bounds = rendering;
    this.#places = new AccountPlaces(rendering.ordersAtOnce);
  }

  /**
   * What the work of that name does there. It throws SERVICE_UNAVAILABLE when nobody renders or the connection is lost, CONCURRENCY_LIMITED and
   * OVERLOADED when too much waits there, and the reason of the signal.
   */
  workOf<Request, Answer, Question, Reply>(name: string): RenderWork<Request, Answer, Question, Reply> {
    return async ({ accountId, request, signal }, ask) => {
      signal?.throwIfAborted();
      const askAny = (question: unknown) => ask(question as Question);
      return (await this.#order({ kind: 'order', name, accountId, request }, askAny, signal)) as Answer;
    };
  }

  /** Runs `work`, which places orders, when the account has a place. Throws as `AccountPlaces.run` does. */
  inTurn<T>(accountId: string, signal: AbortSignal | null, work: () => Promise<T>): Promise<T> {
    return this.#places.run(accountId, signal, work);
  }

  /** As `workOf`, each order in its turn. */
  workInTurn<Request, Answer, Question, Reply>(name: string): RenderWork<Request, Answer, Question, Reply> {
    const work = this.workOf<Request, Answer, Question, Reply>(name);
    return (wish, ask) => this.inTurn(wish.accountId, wish.signal, () => work(wish, ask));
  }

  async #order(
    order: RenderOrder,
    ask: (question: unknown) => Promise<unknown>,
    signal: AbortSignal | null,
  ): Promise<unknown> {
    const failures: unknown[] = [];
    for (const renderer of this.#all.toSorted((one, other) => one.orders - other.orders)) {
      renderer.orders += 1;
      try {
        const socket = await connectChannel(renderer, this.#psk, this.#bounds).catch((error: Error) => {
          failures.push(error);
          return null;
        });
        if (socket !== null) return await this.#converse(socket, order, ask, signal);
      } finally {
        renderer.orders -= 1;
      }
    }
    throw unavailable(new AggregateError(failures, 'no process that renders can be reached'));
  }

  #converse(
    socket: Awaited<ReturnType<typeof connectChannel>>,
    order: RenderOrder,
    ask: (question: unknown) => Promise<unknown>,
    signal: AbortSignal | null,
  ): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const leave = () => reject(signal?.reason);
    const tell = (told: Told) => channel.send(told);
    const reply = async (id: number, question: unknown) => {
      try {
        tell({ kind: 'reply', id, reply: await ask(question) });
      } catch (error) {
        // Whoever asked the question decides what its failure means; the work fails with this one.
        tell({ kind: 'refused', id, message: (error as Error).message });
        reject(error);
      }
    };
    const onMessage = (said: unknown) => {
      const message = said as Said;
      if (message.kind === 'ask') void reply(message.id, message.question);
      else if (message.kind === 'done') resolve(message.answer);
      else if (message.kind === 'full') reject(problem(fullCodeOf(message.code), { retryAfterMs: RETRY_AFTER_MS }));
      else reject(new Error(`rendering failed: ${message.message}`));
    };
    const channel = new Channel(socket, this.#bounds, {
      onMessage,
      onClose: () => reject(unavailable(new Error('the connection to the process that renders was lost'))),
    });
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave, { once: true });
    try {
      tell(order);
    } catch (error) {
      reject(error);
    }
    return promise.finally(() => {
      signal?.removeEventListener('abort', leave);
      channel.close();
    });
  }
}

const unavailable = (cause: unknown) => problem('SERVICE_UNAVAILABLE', { retryAfterMs: RETRY_AFTER_MS, cause });

function fullCodeOf(code: string) {
  return FULL_CODES.find((known) => known === code) ?? 'OVERLOADED';
}
