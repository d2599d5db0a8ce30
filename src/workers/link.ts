// One end of the channel between the first process and a worker. Messages of one turn of the event loop are sent as one batch.

/** A topic with its value; `id` where an answer is wanted. An answer has no topic, but the id of its question. */
interface Message {
  readonly topic?: string;
  readonly value?: unknown;
  readonly id?: number;
  readonly failure?: string;
  readonly unknown?: true;
}

/** Carries a batch to the other end, where `receive` is given it; calls `sent` once it is on its way. */
type Send = (batch: readonly Message[], sent: () => void) => void;
type Handle = (value: never) => unknown;

/** Nobody answers: the other process, or one that it asked, has ended, or does not know the topic. */
export class NoAnswer extends Error {}

export class Link {
  readonly #send: Send;
  readonly #handles = new Map<string, Handle>();
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #batch: Message[] = [];
  #asks = 0;
  #isClosed = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(send: Send) {
    this.#send = send;
  }

  on(topic: string, handle: Handle): void {
    this.#handles.set(topic, handle);
  }

  tell(topic: string, value: unknown = null): void {
    this.#push({ topic, value });
  }

  /** Throws NoAnswer when the other end has gone or knows no such topic, and what was thrown there, as an Error with the same message. */
  ask(topic: string, value: unknown = null): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new NoAnswer());
    this.#asks += 1;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(this.#asks, asked);
    this.#push({ topic, value, id: this.#asks });
    return asked.promise;
  }

  /** What is heard of the other end after its end counts for nothing. */
  receive(batch: readonly Message[]): void {
    if (this.#isClosed) return;
    for (const message of batch) {
      if (message.topic === undefined) this.#settle(message);
      else if (message.id === undefined) this.#handles.get(message.topic)?.(message.value as never);
      else void this.#answer(message.topic, message.value, message.id);
    }
  }

  /** All that was said is on its way. */
  flush(): Promise<void> {
    return this.#sending;
  }

  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#asked.values()) reject(new NoAnswer());
    this.#asked.clear();
  }

  #settle({ id, value, failure, unknown }: Message): void {
    const asked = this.#asked.get(id as number);
    this.#asked.delete(id as number);
    if (unknown === true) asked?.reject(new NoAnswer());
    else if (failure === undefined) asked?.resolve(value);
    else asked?.reject(new Error(failure));
  }

  async #answer(topic: string, value: unknown, id: number): Promise<void> {
    const handle = this.#handles.get(topic);
    if (handle === undefined) return this.#push({ id, unknown: true });
    try {
      this.#push({ id, value: await handle(value as never) });
    } catch (error) {
      this.#push(error instanceof NoAnswer ? { id, unknown: true } : { id, failure: (error as Error).message });
    }
  }

  #push(message: Message): void {
    if (this.#isClosed) return;
    this.#batch.push(message);
    if (this.#batch.length > 1) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sending = promise;
    setImmediate(() => {
      const batch = this.#batch;
      this.#batch = [];
      if (this.#isClosed) resolve();
      else this.#send(batch, resolve);
    });
  }
}
