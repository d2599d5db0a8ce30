// Where browsers, PDFs and pictures are worked on: in this process, or in others that have the role render (RENDERERS). Modules do not ask which.
import {
  AccountThreads,
  type Perform,
  type Performed,
  type PoolBounds,
  type TaskPool,
} from '../core/account-threads.ts';
import type { Renderers } from './renderers.ts';
import type { RenderWork } from './wire.ts';

/** What this room adds to the services of a process. */
export interface RenderingPart {
  readonly rendering: Rendering;
}

/** Any work: what crosses between processes has its types where it is named. */
// biome-ignore lint/suspicious/noExplicitAny: of works of all kinds, each called with what its own kind sends
type AnyWork = RenderWork<any, any, any, any>;

interface PoolRequest<Wish> {
  readonly wish: Wish;
  readonly msMax?: number;
}

interface Pool<Wish, Task, Answer> {
  /** Names it for other processes. */
  readonly name: string;
  /** Of the file of its threads. */
  readonly source: URL;
  readonly bounds: PoolBounds;
  /** Adds to a wish what only the process knows that does it, such as a folder, and does it by `perform`. */
  complete(wish: Wish, perform: (task: Task) => Promise<Performed<Answer>>): Promise<Performed<Answer>>;
}

export class Rendering {
  /** Of a Chromium or Chrome of this process; null: there is none. */
  readonly chromiumPath: string | null;
  readonly #renderers: Renderers | null;
  readonly #works = new Map<string, AnyWork>();

  /** `renderers`: absent where this process renders. */
  constructor(chromiumPath: string | null, renderers: Renderers | null = null) {
    this.chromiumPath = chromiumPath;
    this.#renderers = renderers;
  }

  /** Whether pages can be shown in a browser. Of other processes it is assumed: one without says so when it is asked. */
  get hasBrowser(): boolean {
    return this.#renderers !== null || this.chromiumPath !== null;
  }

  /** The work of that name in another process; null where this process renders: then `here` also serves others. */
  workElsewhere<Request, Answer, Question = never, Reply = never>(
    name: string,
    here: RenderWork<Request, Answer, Question, Reply>,
  ): RenderWork<Request, Answer, Question, Reply> | null {
    if (this.#renderers !== null) return this.#renderers.workInTurn(name);
    this.#works.set(name, here);
    return null;
  }

  workNamed(name: string): AnyWork | undefined {
    return this.#works.get(name);
  }

  /** Threads that render, here or elsewhere. */
  pool<Wish, Task, Answer, Question = never, Reply = never>(
    pool: Pool<Wish, Task, Answer>,
  ): TaskPool<Wish, Answer, never, Question, Reply> {
    if (this.#renderers !== null) return poolElsewhere<Wish, Answer, Question, Reply>(this.#renderers, pool.name);
    const here = poolHere<Wish, Task, Answer, Question, Reply>(pool);
    const work: RenderWork<PoolRequest<Wish>, Performed<Answer>, Question, Reply> = (
      { accountId, request, signal },
      onAsk,
    ) =>
      here.run(accountId, signal, (perform) => {
        const { wish, msMax } = request;
        return perform(wish, { talk: { onAsk }, ...(msMax === undefined ? {} : { msMax }) });
      });
    this.#works.set(pool.name, work);
    return here;
  }
}

function poolHere<Wish, Task, Answer, Question, Reply>({
  source,
  bounds,
  complete,
}: Pool<Wish, Task, Answer>): TaskPool<Wish, Answer, never, Question, Reply> {
  const threads = new AccountThreads<Task, Answer, never, Question, Reply>(source, bounds);
  return {
    run: (accountId, signal, work) =>
      threads.run(accountId, signal, (perform) =>
        work((wish, options) => complete(wish, (task) => perform(task, options))),
      ),
    close: () => threads.close(),
  };
}

function poolElsewhere<Wish, Answer, Question, Reply>(
  renderers: Renderers,
  name: string,
): TaskPool<Wish, Answer, never, Question, Reply> {
  const order = renderers.workOf<PoolRequest<Wish>, Performed<Answer>, Question, Reply>(name);
  return {
    run(accountId, signal, work) {
      const perform: Perform<Wish, Answer, never, Question, Reply> = (wish, { talk = {}, msMax } = {}) => {
        const request = msMax === undefined ? { wish } : { wish, msMax };
        return order({ accountId, request, signal }, async (question) => (await talk.onAsk?.(question)) as Reply);
      };
      return renderers.inTurn(accountId, signal, () => work(perform));
    },
    close: () => Promise.resolve(),
  };
}
