// Lines that this process serves: concurrent attempts allowed for each, and the lines that wait for a turn.
// A line begins with one attempt at a time. Each success doubles that, up to 32; a failure resets it to one. So a failing receiver costs
// little, however much is due to it, and a recovered one is soon served at full speed.
// Lines take turns: one that was served goes behind the others.
import type { LongCaller } from '../../core/outbound/long-calls.ts';
import type { LineClaim, LineId, ServedLine } from '../deliveries/claim.ts';
import { HEALTH, type Health, type Place, type Places } from './places.ts';
import { type WaitingLine, WaitingLines } from './waiting-lines.ts';

const ATTEMPTS_AT_ONCE_MAX = 32;
/** Lines remembered while nothing of them is under way; one that is forgotten begins with one attempt again. */
const REMEMBERED_MAX = 20_000;
/** Turns in which another transaction may hold a line before it is left to the search for due lines again. */
const MISSES_MAX = 20;
const LINES_PER_CLAIM = 200;
const ATTEMPTS_PER_CLAIM = 256;
// Attempts to failing receivers, their accounts in turn. The first that succeeds makes its line a healthy one, which they do not
// bound. Unbounded, 5,000 dead endpoints took a third of the rate of as many live ones, without any attempt 5 %.
const FAILING_PER_SECOND = 128;
const FAILING_AT_ONCE = 64;

export interface Line extends LineId, WaitingLine {
  health: Health;
  found: boolean;
  atOnce: number;
  /** Places worth taking for it: what was due at its last turn and one more. Taken for nothing, they keep other lines waiting. */
  expected: number;
  underWay: number;
  /** Of a webhook whose answers may take minutes, as its last claim said; null: of any other. */
  longCaller: LongCaller | null;
  /** More is due than was claimed. */
  more: boolean;
  misses: number;
}

/** A line's turn, with places taken for its attempts. */
export interface Turn {
  readonly line: Line;
  readonly places: Place[];
}

export class Lines {
  readonly #places: Places;
  // No cache of a library: what is under way or waits for a turn must stay.
  readonly #lines = new Map<string, Line>();
  readonly #waiting = new WaitingLines<Line>();
  #failingLeft = FAILING_AT_ONCE;
  #countedAtMs = performance.now();

  constructor(places: Places) {
    this.#places = places;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A line that the database says is due. */
  noteDue({ accountId, webhookId }: LineId, health: Health): void {
    const line = this.#line(accountId, webhookId);
    line.health = health;
    line.found = true;
    this.#waiting.add(line);
  }

  /** The next turns, first come first served, with their places taken. A found line gets one also without room: it is taken over. */
  nextTurns(): Turn[] {
    const turns: Turn[] = [];
    let attempts = 0;
    for (const line of this.#waiting.inTurn((health) => this.room(health) > 0)) {
      if (turns.length >= LINES_PER_CLAIM || attempts >= ATTEMPTS_PER_CLAIM) break;
      const wanted = Math.min(line.atOnce - line.underWay, line.expected, ATTEMPTS_PER_CLAIM - attempts);
      const places = this.#placesFor(line, Math.min(wanted, this.room(line.health)));
      if (places.length === 0 && !line.found) continue;
      attempts += places.length;
      if (line.health === HEALTH.failing) this.#failingLeft -= places.length;
      turns.push({ line, places });
    }
    return turns;
  }

  #placesFor({ health, accountId, longCaller }: Line, wanted: number): Place[] {
    if (longCaller !== null) return this.#places.takeLong(longCaller, Math.max(0, wanted));
    const room = Math.max(0, Math.min(wanted, this.#places.roomOf(health, accountId)));
    return Array.from({ length: room }, () => this.#places.take(health, accountId));
  }

  /** Attempts that lines of this health may begin now. */
  room(health: Health): number {
    const room = this.#places.room(health);
    return health === HEALTH.failing ? Math.min(room, this.#failingRoom()) : room;
  }

  #failingRoom(): number {
    const nowMs = performance.now();
    const earned = ((nowMs - this.#countedAtMs) / 1000) * FAILING_PER_SECOND;
    this.#failingLeft = Math.min(this.#failingLeft + earned, FAILING_AT_ONCE);
    this.#countedAtMs = nowMs;
    return Math.floor(this.#failingLeft);
  }

  /** After a claim: the places that are not needed are free again, and the line waits for another turn if it has more. */
  endTurn(turn: Turn, served: ServedLine | undefined, claimed: number): void {
    const { line, places } = turn;
    for (const place of places.splice(claimed)) this.#places.release(place);
    this.#waiting.delete(line);
    if (served === undefined) {
      line.misses += 1;
      if (line.misses <= MISSES_MAX) this.#waiting.add(line);
      else line.found = line.more = false;
      return;
    }
    line.misses = 0;
    line.found = false;
    line.health = served.health;
    line.more = served.more;
    line.expected = served.more ? ATTEMPTS_AT_ONCE_MAX : claimed + 1;
    line.underWay += claimed;
    this.#waitAgain(line);
  }

  /** After a claim that failed: as before it. */
  notServed(turn: Turn): void {
    for (const place of turn.places) this.#places.release(place);
  }

  /** An attempt has ended. `succeeded` is null when nothing is known of the receiver. Answers whether any line waits for a turn. */
  endAttempt({ accountId, webhookId }: LineId, place: Place, succeeded: boolean | null): boolean {
    const line = this.#line(accountId, webhookId);
    this.#places.release(place);
    line.underWay -= 1;
    if (succeeded !== null) {
      const health = succeeded ? HEALTH.healthy : HEALTH.failing;
      // It waits for another kind of place from now on.
      if (health !== line.health) this.#waiting.delete(line);
      line.health = health;
      line.atOnce = succeeded ? Math.min(line.atOnce * 2, ATTEMPTS_AT_ONCE_MAX) : 1;
    }
    this.#waitAgain(line);
    return this.#waiting.size > 0;
  }

  isHealthy({ accountId, webhookId }: LineId): boolean {
    return this.#line(accountId, webhookId).health === HEALTH.healthy;
  }

  /** Lines that the database has left to this process and that are not finished. */
  unfinishedLines(): LineId[] {
    return [...this.#lines.values()].filter((line) => line.more);
  }

  #waitAgain(line: Line): void {
    if (line.found || (line.more && line.underWay < line.atOnce)) this.#waiting.add(line);
  }

  #line(accountId: string, webhookId: string): Line {
    const key = `${accountId} ${webhookId}`;
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    if (this.#lines.size >= REMEMBERED_MAX) this.#forgetOne();
    const line: Line = {
      accountId,
      webhookId,
      health: HEALTH.unknown,
      atOnce: 1,
      expected: ATTEMPTS_AT_ONCE_MAX,
      underWay: 0,
      longCaller: null,
      more: false,
      found: false,
      misses: 0,
      position: null,
    };
    this.#lines.set(key, line);
    return line;
  }

  /** Forgets the longest known line that is idle; those under way are few beside what is remembered. */
  #forgetOne(): void {
    for (const [key, line] of this.#lines) {
      if (line.underWay > 0 || this.#waiting.has(line)) continue;
      this.#lines.delete(key);
      return;
    }
  }
}

export function claimOf({ line, places }: Turn): LineClaim {
  return { accountId: line.accountId, webhookId: line.webhookId, room: places.length };
}
