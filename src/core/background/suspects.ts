// Suspects: jobs whose process died while it ran them. A process runs a suspect alone, so that a second death has one cause and takes no other
// jobs along. After the second death the job is given up.

/** Deaths of its process after which a job is given up. */
export const DEATHS_MAX = 2;
/** A job that has run for so long is taken to be harmless: a suspect does not wait for it, and after so long nobody waits for a suspect. */
const SETTLED_MS = 60_000;

/** Which jobs one process may begin. `Turn`: of an account. */
export class Suspects<Turn extends object, Job> {
  readonly #settledMs: number;
  /** An account that has suspects and nothing else due. */
  #waiting: Turn | null = null;
  /** The turn that is to claim one suspect. */
  #offered: Turn | null = null;
  #alone: Job | null = null;
  /** Jobs that have not settled. */
  #unsettled = 0;

  constructor(settledMs = SETTLED_MS) {
    this.#settledMs = settledMs;
  }

  /** What may be claimed now: nothing, the work of all accounts, or one suspect of this turn. */
  next(): 'nothing' | 'all' | Turn {
    this.#offered = null;
    const isExclusive = this.#waiting !== null || this.#alone !== null;
    if (isExclusive && this.#unsettled > 0) return 'nothing';
    this.#offered = this.#waiting;
    this.#waiting = null;
    return this.#offered ?? 'all';
  }

  /** Whether this turn claims one suspect, and else only what is none. */
  isFor(turn: Turn): boolean {
    return turn === this.#offered;
  }

  /** The turn's account has suspects, and nothing else due: nothing more begins before one of them has run. */
  await(turn: Turn): void {
    this.#waiting ??= turn;
  }

  /** The suspect that was claimed: it is about to begin. */
  noteClaim(job: Job): void {
    this.#alone = job;
  }

  /** A job begins. Answers what is to be called at its end. */
  begin(job: Job): () => void {
    let isUnsettled = true;
    this.#unsettled += 1;
    const settle = () => {
      clearTimeout(timer);
      if (!isUnsettled) return;
      isUnsettled = false;
      this.#unsettled -= 1;
      if (this.#alone === job) this.#alone = null;
    };
    const timer = setTimeout(settle, this.#settledMs).unref();
    return settle;
  }
}
