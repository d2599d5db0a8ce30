// Relays messages between workers, and keeps their subscriptions to topics.
import { type Link, NoAnswer } from './link.ts';

export class Relay {
  readonly #links = new Set<Link>();
  readonly #wants = new Map<string, Set<Link>>();

  add(link: Link): void {
    this.#links.add(link);
    link.on('want', ([topic, wanted]: [string, boolean]) => this.#want(link, topic, wanted));
    link.on('others.tell', ([topic, value]: [string, unknown]) => {
      for (const other of this.#wants.get(topic) ?? []) if (other !== link) other.tell(topic, value);
    });
    link.on('others.ask', ([topic, value]: [string, unknown]) => this.#ask(link, topic, value));
    for (const topic of this.#wants.keys()) this.#announce(link, topic);
  }

  remove(link: Link): void {
    this.#links.delete(link);
    for (const topic of this.#wants.keys()) this.#want(link, topic, false);
    link.close();
  }

  /** Of every worker that answers. */
  async #ask(from: Link, topic: string, value: unknown): Promise<unknown[]> {
    const others = [...this.#links].filter((link) => link !== from);
    const answers = await Promise.allSettled(others.map((link) => link.ask(topic, value)));
    for (const answer of answers)
      if (answer.status === 'rejected' && !(answer.reason instanceof NoAnswer)) throw answer.reason;
    return answers.filter((answer) => answer.status === 'fulfilled').map((answer) => answer.value);
  }

  #want(link: Link, topic: string, wanted: boolean): void {
    const wants = this.#wants.get(topic) ?? new Set();
    this.#wants.set(topic, wants);
    if (wanted === wants.has(link)) return;
    const before = wants.size;
    if (wanted) wants.add(link);
    else wants.delete(link);
    // Whether somebody else wants it changes for others at the first and the last, and for those two themselves at the second.
    if (Math.min(before, wants.size) < 2) for (const other of this.#links) this.#announce(other, topic);
  }

  #announce(to: Link, topic: string): void {
    const wants = this.#wants.get(topic) ?? new Set();
    to.tell('wanted', [topic, wants.size > (wants.has(to) ? 1 : 0)]);
  }
}
