// Messages and queries between workers, relayed by the first process (primary.ts).
import type { Siblings } from '../core/process/siblings.ts';
import type { Link } from './link.ts';

export class WorkerSiblings implements Siblings {
  readonly #link: Link;
  readonly #wanted = new Set<string>();

  constructor(link: Link) {
    this.#link = link;
    link.on('wanted', ([topic, isWanted]: [string, boolean]) => {
      if (isWanted) this.#wanted.add(topic);
      else this.#wanted.delete(topic);
    });
  }

  tell(topic: string, value: unknown): void {
    if (this.#wanted.has(topic)) this.#link.tell('others.tell', [topic, value]);
  }

  async ask(topic: string, value: unknown): Promise<readonly unknown[]> {
    return (await this.#link.ask('others.ask', [topic, value])) as readonly unknown[];
  }

  on(topic: string, handle: (value: never) => unknown): void {
    this.#link.on(topic, handle);
  }

  want(topic: string, wanted: boolean): void {
    this.#link.tell('want', [topic, wanted]);
  }
}
