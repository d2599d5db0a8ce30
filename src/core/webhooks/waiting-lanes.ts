// Lanes that want a turn, first come first served. Thousands of failing lanes may wait for a place of theirs: they are not looked at
// while there is none. Without that, 8,000 of them took 26 of 200 µs of a delivery to other receivers.
import { HEALTH, type Health } from './slots.ts';

export interface WaitingLane {
  readonly health: Health;
  /** Found due in the database, and not taken over there yet: it gets its turn also without room. */
  readonly found: boolean;
  /** Its place in the line; null while it does not wait. */
  place: { readonly line: Set<unknown>; readonly number: number } | null;
}

export class WaitingLanes<Lane extends WaitingLane> {
  readonly #found = new Set<Lane>();
  readonly #known: ReadonlyMap<Health, Set<Lane>> = new Map(
    Object.values(HEALTH).map((health) => [health, new Set<Lane>()]),
  );
  #joined = 0;

  get size(): number {
    return this.#lines().reduce((sum, line) => sum + line.size, 0);
  }

  has(lane: Lane): boolean {
    return lane.place !== null;
  }

  /** To the end of the line; a lane that waits already keeps its place, unless it has to wait for something else. */
  add(lane: Lane): void {
    const line = lane.found ? this.#found : (this.#known.get(lane.health) as Set<Lane>);
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
    const heads = this.#lines().map((line) => {
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

  #lines(): Set<Lane>[] {
    return [this.#found, ...this.#known.values()];
  }
}

function next<Lane>(rest: Iterator<Lane, undefined>): Lane | undefined {
  const { value, done } = rest.next();
  return done === true ? undefined : value;
}

const numberOf = (lane: WaitingLane | undefined) => lane?.place?.number ?? Number.POSITIVE_INFINITY;
