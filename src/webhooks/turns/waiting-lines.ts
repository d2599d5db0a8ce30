// Queue of lines that wait for a turn: first come, first served; failing ones by accounts in turn, since they may wait long. While there
// is no free slot the thousands that may wait are not scanned. Scanning 8,000 took 26 of the 200 µs of a delivery to others.

import { statement } from '../../db/statement.ts';
import { HEALTH, type Health } from './places.ts';

export interface WaitingLine {
  readonly accountId: string;
  readonly health: Health;
  /** Found due in the database, and not taken over there yet: it gets its turn also without room. */
  readonly found: boolean;
  /** Its position among those that wait; null while it does not wait. */
  position: { readonly among: Waiting<unknown>; readonly number: number } | null;
}

interface Waiting<Line> {
  readonly size: number;
  add(line: Line): void;
  delete(line: unknown): void;
  values(): Iterator<Line, undefined>;
}

export class WaitingLines<Line extends WaitingLine> {
  readonly #found: Waiting<Line> = new Set<Line>();
  readonly #known: ReadonlyMap<Health, Waiting<Line>> = new Map<Health, Waiting<Line>>([
    [HEALTH.unknown, new Set<Line>()],
    [HEALTH.healthy, new Set<Line>()],
    [HEALTH.failing, new AccountsInTurn<Line>()],
  ]);
  #joined = 0;

  get size(): number {
    return [this.#found, ...this.#known.values()].reduce((sum, among) => sum + among.size, 0);
  }

  has(line: Line): boolean {
    return line.position !== null;
  }

  /** Behind all others; a line that waits already keeps its place, unless it has to wait for something else. */
  add(line: Line): void {
    const among = line.found ? this.#found : (this.#known.get(line.health) as Waiting<Line>);
    if (line.position?.among === among) return;
    this.delete(line);
    line.position = { among, number: this.#joined };
    this.#joined += 1;
    among.add(line);
  }

  delete(line: Line): void {
    line.position?.among.delete(line);
    line.position = null;
  }

  /** The lines in their order, without those for whose health there is no room when their turn comes. */
  *inTurn(hasRoom: (health: Health) => boolean): Generator<Line> {
    const known = [...this.#known].filter(([health]) => hasRoom(health)).map(([, among]) => among);
    const heads = [this.#found, ...known].map((among) => {
      const rest = among.values();
      return { rest, line: next(rest) };
    });
    for (;;) {
      const open = heads.filter(({ line }) => line !== undefined && (line.found || hasRoom(line.health)));
      const [first, ...others] = open;
      if (first === undefined) return;
      const head = others.reduce((a, b) => (numberOf(b.line) < numberOf(a.line) ? b : a), first);
      yield head.line as Line;
      head.line = next(head.rest);
    }
  }
}

/** One line of each account, then the next one of each; an account that had its turn goes behind the others. */
class AccountsInTurn<Line extends WaitingLine> implements Waiting<Line> {
  readonly #accounts = new Map<string, Set<Line>>();
  size = 0;

  add(line: Line): void {
    const own = this.#accounts.get(line.accountId) ?? new Set();
    if (own.size === 0) this.#accounts.set(line.accountId, own);
    own.add(line);
    this.size += 1;
  }

  delete(line: Line): void {
    const own = this.#accounts.get(line.accountId);
    if (own?.delete(line) !== true) return;
    this.size -= 1;
    this.#accounts.delete(line.accountId);
    if (own.size > 0) this.#accounts.set(line.accountId, own);
  }

  *values(): Generator<Line, undefined> {
    let rests = [...this.#accounts.values()].map((own) => own.values());
    while (rests.length > 0) {
      const left: typeof rests = [];
      for (const rest of rests) {
        const line = next(rest);
        if (line === undefined) continue;
        left.push(rest);
        yield line;
      }
      rests = left;
    }
  }
}

function next<Line>(rest: Iterator<Line, undefined>): Line | undefined {
  const { value, done } = rest.next();
  return done === true ? undefined : value;
}

const numberOf = (line: WaitingLine | undefined) => line?.position?.number ?? Number.POSITIVE_INFINITY;

// What deleted webhooks leave behind: their lines.

export const findStrayLines = statement(
  'line_find_strays',
  `/* fan-out: accounts with lines of webhooks that are deleted */
   SELECT l.account_id
     FROM core.delivery_line l
    WHERE NOT EXISTS (SELECT 1 FROM core.webhook w WHERE w.account_id = l.account_id AND w.webhook_id = l.webhook_id)
    GROUP BY l.account_id LIMIT $1`,
);
/** No line of a deleted webhook is made again: the dispatcher makes lines of locked, enabled webhooks only. */
export const deleteStrayLines = statement(
  'line_delete_strays',
  `WITH c AS MATERIALIZED (
     SELECT l.webhook_id FROM core.delivery_line l
      WHERE l.account_id = $1
        AND NOT EXISTS (SELECT 1 FROM core.webhook w WHERE w.account_id = $1 AND w.webhook_id = l.webhook_id)
      LIMIT $2 FOR UPDATE OF l SKIP LOCKED
   )
   DELETE FROM core.delivery_line AS t USING c WHERE t.account_id = $1 AND t.webhook_id = c.webhook_id`,
);
