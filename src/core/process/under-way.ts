// Concurrency limits per owner, counted over all processes behind one port (WORKERS).

export interface UnderWay {
  /** Counts one more of what the name says; false when there are so many. `end` must be called once for each true. */
  begin(name: string, max: number): boolean | Promise<boolean>;
  end(name: string): void;
}

/** Counts in this process. */
export class UnderWayHere implements UnderWay {
  readonly #counts = new Map<string, number>();

  begin(name: string, max: number): boolean {
    const count = this.#counts.get(name) ?? 0;
    if (count >= max) return false;
    this.#counts.set(name, count + 1);
    return true;
  }

  end(name: string): void {
    const left = (this.#counts.get(name) ?? 1) - 1;
    if (left === 0) this.#counts.delete(name);
    else this.#counts.set(name, left);
  }

  /** The name of each that is under way: of two with one name, the name twice. */
  all(): string[] {
    return [...this.#counts].flatMap(([name, count]) => Array<string>(count).fill(name));
  }
}
