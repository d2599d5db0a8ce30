// Work of an account, one piece after the other. Pieces of different accounts run at once.

export class AccountTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` behind what the account runs now. Answers and throws what it does. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(accountId) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(accountId, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(accountId) === turn) this.#last.delete(accountId);
    }
  }
}
