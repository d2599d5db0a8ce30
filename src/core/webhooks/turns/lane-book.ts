// What this process knows of the lanes it serves: how many attempts each may have under way, and which wait for a turn.
// A lane begins with one attempt at a time. Each success doubles that, up to 32; a failure brings it back to one: a receiver that
// fails costs little, however much is due to it, and one that recovers is soon served at full speed.
// Lanes take turns: one that was served goes behind the others.
import type { LaneClaim, LaneId, ServedLane } from '../deliveries/claim.ts';
import { HEALTH, type Health, type Slot, type Slots } from './slots.ts';
import { type WaitingLane, WaitingLanes } from './waiting-lanes.ts';

const ATTEMPTS_AT_ONCE_MAX = 32;
/** Lanes remembered while nothing of them is under way; one that is forgotten begins with one attempt again. */
const REMEMBERED_MAX = 20_000;
/** Turns in which another transaction may hold a lane before it is left to the search for due lanes again. */
const MISSES_MAX = 20;
const LANES_PER_CLAIM = 200;
const ATTEMPTS_PER_CLAIM = 256;
// Attempts to failing receivers, their accounts in turn. The first that succeeds makes its lane a healthy one, which they do not
// bound. Unbounded, 5,000 dead endpoints took a third of the rate of as many live ones, without any attempt 5 %.
const FAILING_PER_SECOND = 128;
const FAILING_AT_ONCE = 64;

export interface Lane extends LaneId, WaitingLane {
  health: Health;
  found: boolean;
  atOnce: number;
  /** Places worth taking for it: what was due at its last turn and one more. Taken for nothing, they keep other lanes waiting. */
  expected: number;
  underWay: number;
  /** More is due than was claimed. */
  more: boolean;
  misses: number;
}

/** A lane's turn, with places taken for its attempts. */
export interface Turn {
  readonly lane: Lane;
  readonly slots: Slot[];
}

export class LaneBook {
  readonly #slots: Slots;
  readonly #lanes = new Map<string, Lane>();
  readonly #waiting = new WaitingLanes<Lane>();
  #failingLeft = FAILING_AT_ONCE;
  #countedAtMs = performance.now();

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A lane that the database says is due. */
  found({ accountId, webhookId }: LaneId, health: Health): void {
    const lane = this.#lane(accountId, webhookId);
    lane.health = health;
    lane.found = true;
    this.#waiting.add(lane);
  }

  /** The next turns, first come first served, with their places taken. A found lane gets one also without room: it is taken over. */
  nextTurns(): Turn[] {
    const turns: Turn[] = [];
    let attempts = 0;
    for (const lane of this.#waiting.inTurn((health) => this.room(health) > 0)) {
      if (turns.length >= LANES_PER_CLAIM || attempts >= ATTEMPTS_PER_CLAIM) break;
      const free = Math.min(this.room(lane.health), this.#slots.roomOf(lane.health, lane.accountId));
      const wanted = Math.min(lane.atOnce - lane.underWay, lane.expected);
      const room = Math.max(0, Math.min(wanted, free, ATTEMPTS_PER_CLAIM - attempts));
      if (room === 0 && !lane.found) continue;
      attempts += room;
      if (lane.health === HEALTH.failing) this.#failingLeft -= room;
      turns.push({ lane, slots: Array.from({ length: room }, () => this.#slots.take(lane.health, lane.accountId)) });
    }
    return turns;
  }

  /** Attempts that lanes of this health may begin now. */
  room(health: Health): number {
    const room = this.#slots.room(health);
    return health === HEALTH.failing ? Math.min(room, this.#failingRoom()) : room;
  }

  #failingRoom(): number {
    const nowMs = performance.now();
    const earned = ((nowMs - this.#countedAtMs) / 1000) * FAILING_PER_SECOND;
    this.#failingLeft = Math.min(this.#failingLeft + earned, FAILING_AT_ONCE);
    this.#countedAtMs = nowMs;
    return Math.floor(this.#failingLeft);
  }

  /** After a claim: the places that are not needed are free again, and the lane waits for another turn if it has more. */
  served(turn: Turn, served: ServedLane | undefined, claimed: number): void {
    const { lane, slots } = turn;
    for (const slot of slots.splice(claimed)) this.#slots.release(slot);
    this.#waiting.delete(lane);
    if (served === undefined) {
      lane.misses += 1;
      if (lane.misses <= MISSES_MAX) this.#waiting.add(lane);
      else lane.found = lane.more = false;
      return;
    }
    lane.misses = 0;
    lane.found = false;
    lane.health = served.health;
    lane.more = served.more;
    lane.expected = served.more ? ATTEMPTS_AT_ONCE_MAX : claimed + 1;
    lane.underWay += claimed;
    this.#waitAgain(lane);
  }

  /** After a claim that failed: as before it. */
  notServed(turn: Turn): void {
    for (const slot of turn.slots) this.#slots.release(slot);
  }

  /** An attempt has ended. `succeeded` is null when nothing is known of the receiver. Answers whether any lane waits for a turn. */
  ended({ accountId, webhookId }: LaneId, slot: Slot, succeeded: boolean | null): boolean {
    const lane = this.#lane(accountId, webhookId);
    this.#slots.release(slot);
    lane.underWay -= 1;
    if (succeeded !== null) {
      const health = succeeded ? HEALTH.healthy : HEALTH.failing;
      // It waits for another kind of place from now on.
      if (health !== lane.health) this.#waiting.delete(lane);
      lane.health = health;
      lane.atOnce = succeeded ? Math.min(lane.atOnce * 2, ATTEMPTS_AT_ONCE_MAX) : 1;
    }
    this.#waitAgain(lane);
    return this.#waiting.size > 0;
  }

  isHealthy({ accountId, webhookId }: LaneId): boolean {
    return this.#lane(accountId, webhookId).health === HEALTH.healthy;
  }

  /** Lanes that the database has left to this process and that are not finished. */
  unfinished(): LaneId[] {
    return [...this.#lanes.values()].filter((lane) => lane.more);
  }

  #waitAgain(lane: Lane): void {
    if (lane.found || (lane.more && lane.underWay < lane.atOnce)) this.#waiting.add(lane);
  }

  #lane(accountId: string, webhookId: string): Lane {
    const key = `${accountId} ${webhookId}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    if (this.#lanes.size >= REMEMBERED_MAX) this.#forgetOne();
    const lane: Lane = {
      accountId,
      webhookId,
      health: HEALTH.unknown,
      atOnce: 1,
      expected: ATTEMPTS_AT_ONCE_MAX,
      underWay: 0,
      more: false,
      found: false,
      misses: 0,
      place: null,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Forgets the longest known lane that is idle; those under way are few beside what is remembered. */
  #forgetOne(): void {
    for (const [key, lane] of this.#lanes) {
      if (lane.underWay > 0 || this.#waiting.has(lane)) continue;
      this.#lanes.delete(key);
      return;
    }
  }
}

export function claimOf({ lane, slots }: Turn): LaneClaim {
  return { accountId: lane.accountId, webhookId: lane.webhookId, room: slots.length };
}
