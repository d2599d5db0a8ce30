// Number of lists that a search probes to find at least 98 % of the exact answer.

const RECALL_MIN = 0.98;
/** What calibration aims at: a sample is only one (aiming at 0.99 with half as many queries measured 0.973). */
const RECALL_AIM = 0.995;
const FEW = 10;
/** The most results for which lists are calibrated; more are searched exactly. */
export const RANKED = 100;
/** Beyond this share of the lists an exact scan is as fast (0.31 of 200,000 x 128: 2.1 against 2.0 ms; 0.05: 0.8 against 2.9). */
const WORTH_SHARE = 0.25;
const CHECKS_MIN = 8;
const CHECKS_KEPT = 32;
const WIDEN = 1.5;

export class Probes {
  readonly #lists: number;
  #few: Width;
  #many: Width;

  /**
   * @param ranks per calibration query, from the best neighbour on, the rank of the list each neighbour is in
   * @param lists how many there are
   */
  constructor(ranks: readonly (readonly number[])[], lists: number) {
    this.#lists = lists;
    this.#few = new Width(leastFor(ranks.flatMap((one) => one.slice(0, FEW))));
    this.#many = new Width(leastFor(ranks.flat()));
  }

  /** Undefined when only an exact search will do. */
  of(topK: number): number | undefined {
    const { probes } = topK <= FEW ? this.#few : this.#many;
    return topK > RANKED || probes > this.#lists * WORTH_SHARE ? undefined : probes;
  }

  get worthless(): boolean {
    return this.of(1) === undefined;
  }

  /** @param recall the share of the exact answer that an approximate one had */
  learn(topK: number, recall: number): void {
    (topK <= FEW ? this.#few : this.#many).learn(recall);
  }
}

class Width {
  probes: number;
  #recalls: number[] = [];

  constructor(probes: number) {
    this.probes = probes;
  }

  learn(recall: number): void {
    this.#recalls = [...this.#recalls, recall].slice(-CHECKS_KEPT);
    if (this.#recalls.length < CHECKS_MIN) return;
    const mean = this.#recalls.reduce((sum, one) => sum + one, 0) / this.#recalls.length;
    if (mean >= RECALL_MIN) return;
    this.probes = Math.ceil(this.probes * WIDEN);
    this.#recalls = [];
  }
}

/** The least number of lists that holds the aimed share of the neighbours. */
function leastFor(ranks: readonly number[]): number {
  const sorted = [...ranks].sort((a, b) => a - b);
  const needed = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * RECALL_AIM) - 1)];
  return needed === undefined ? Number.POSITIVE_INFINITY : needed + 1;
}
