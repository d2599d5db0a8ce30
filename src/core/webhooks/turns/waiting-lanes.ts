// Lanes that want a turn, first come first served; failing ones by accounts in turn, since they may have to wait long. Thousands of
// them may wait for a place: they are not looked at while there is none. Without that, 8,000 took 26 of 200 µs of a delivery to others.
import { HEALTH, type Health } from './slots.ts';

export interface WaitingLane {
  readonly accountId: string;
  readonly health: Health;
  /** Found due in the database, and not taken over there yet: it gets its turn also without room. */
  readonly found: boolean;
  /** Its place in the line; null while it does not wait. */
  place: { readonly line: Line<unknown>; readonly number: number } | null;
}

interface Line<Lane> {
  readonly size: number;
  add(lane: Lane): void;
  delete(lane: unknown): void;
  values(): Iterator<Lane, undefined>;
}

export class WaitingLanes<Lane extends WaitingLane> {
  readonly #found: Line<Lane> = new Set<Lane>();
  readonly #known: ReadonlyMap<Health, Line<Lane>> = new Map<Health, Line<Lane>>([
    [HEALTH.unknown, new Set<Lane>()],
    [HEALTH.healthy, new Set<Lane>()],
    [HEALTH.failing, new AccountsInTurn<Lane>()],
  ]);
  #joined = 0;

  get size(): number {
    return [this.#found, ...this.#known.values()].reduce((sum, line) => sum + line.size, 0);
  }

  has(lane: Lane): boolean {
    return lane.place !== null;
  }

  /** To the end of the line; a lane that waits already keeps its place, unless it has to wait for something else. */
  add(lane: Lane): void {
    const line = lane.found ? this.#found : (this.#known.get(lane.health) as Line<Lane>);
    if (lane.place?.line === line) return;
    this.delete(lane);
    lane.place = { line, number: this.#joined };
    this.#joined += 1;
    line.add(lane);
  }

  delete(lane: Lane): void {
    lane.place?.line.delete(lane);
    lane.place = null;
  }

  /** The lanes in their order, without those for whose health there is no room when their turn comes. */
  *inTurn(hasRoom: (health: Health) => boolean): Generator<Lane> {
    const known = [...this.#known].filter(([health]) => hasRoom(health)).map(([, line]) => line);
    const heads = [this.#found, ...known].map((line) => {
      const rest = line.values();
      return { rest, lane: next(rest) };
    });
    for (;;) {
      const open = heads.filter(({ lane }) => lane !== undefined && (lane.found || hasRoom(lane.health)));
      const [first, ...others] = open;
      if (first === undefined) return;
      const head = others.reduce((a, b) => (numberOf(b.lane) < numberOf(a.lane) ? b : a), first);
      yield head.lane as Lane;
      head.lane = next(head.rest);
    }
  }
}

/** One lane of each account, then the next one of each; an account that had its turn goes behind the others. */
class AccountsInTurn<Lane extends WaitingLane> implements Line<Lane> {
  readonly #accounts = new Map<string, Set<Lane>>();
  size = 0;

  add(lane: Lane): void {
    const own = this.#accounts.get(lane.accountId) ?? new Set();
    if (own.size === 0) this.#accounts.set(lane.accountId, own);
    own.add(lane);
    this.size += 1;
  }

  delete(lane: Lane): void {
    const own = this.#accounts.get(lane.accountId);
    if (own?.delete(lane) !== true) return;
    this.size -= 1;
    this.#accounts.delete(lane.accountId);
    if (own.size > 0) this.#accounts.set(lane.accountId, own);
  }

  *values(): Generator<Lane, undefined> {
    let lines = [...this.#accounts.values()].map((own) => own.values());
    while (lines.length > 0) {
      const left: typeof lines = [];
      for (const line of lines) {
        const lane = next(line);
        if (lane === undefined) continue;
        left.push(line);
        yield lane;
      }
      lines = left;
    }
  }
}

function next<Lane>(rest: Iterator<Lane, undefined>): Lane | undefined {
  const { value, done } = rest.next();
  return done === true ? undefined : value;
}

const numberOf = (lane: WaitingLane | undefined) => lane?.place?.number ?? Number.POSITIVE_INFINITY;
