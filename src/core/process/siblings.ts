// Messages to the other processes of one service behind the same port (WORKERS), so that their caches follow at once. All other shared state is
// in the database. Messages are hints: a lost one only delays what the other process finds by itself.

export interface Siblings {
  /** Tells the value to each of the others that wants the topic; soon, and in order. Values are what JSON can carry. */
  tell(topic: string, value: unknown): void;
  /** Asks each of the others, and answers what they answered; one that ends meanwhile, or does not know the topic, is left out. */
  ask(topic: string, value: unknown): Promise<readonly unknown[]>;
  /** How this process answers a question, and hears what is told once it wants the topic. */
  on(topic: string, handle: (value: never) => unknown): void;
  /** Whether to be told of the topic: nothing is sent that nobody wants. */
  want(topic: string, wanted: boolean): void;
}

/** One process answers alone. */
export const noSiblings: Siblings = {
  tell: () => undefined,
  ask: async () => [],
  on: () => undefined,
  want: () => undefined,
};
