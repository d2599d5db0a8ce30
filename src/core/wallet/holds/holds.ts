// Holds: authorize the highest price in a lane, do the work, then capture its cost or release the hold. For work that cannot commit with its
// charge: vendor calls, and effects too large for a shared batch.
import pLimit, { type LimitFunction } from 'p-limit';
import type { Database } from '../../../db/database.ts';
import { rideOut } from '../../../db/ride-out.ts';
import { statement } from '../../../db/statement.ts';
import { type Admission, admission } from '../../admission.ts';
import { mendEach } from '../../background/sweeper/sweep.ts';
import type { Logger } from '../../process/logger.ts';
import type { LaneEffect, LaneItem, LaneOutcome } from '../lane/lane-item.ts';
import type { Lanes } from '../lane/lanes.ts';
import { HoldRenewal } from './hold-renewal.ts';
import {
  type Capture,
  expireHold,
  type HeldAnswer,
  type HoldSettlement,
  releaseHold,
  settleHold,
} from './settle-hold.ts';

export interface HoldsOptions {
  readonly db: Database;
  readonly lanes: Lanes;
  readonly log: Logger;
  /** This process, as the owner of the holds it works under. */
  readonly owner: string;
  /** How long a hold outlives the process that renews it; a minute when absent. */
  readonly termMs?: number;
  /** What this process may take; all when absent. */
  readonly bounds?: Admission;
}

/** A call as a lane takes it, without an effect: the vendor does the work. */
export type HoldCall = Omit<LaneItem, 'mode' | 'effect' | 'input' | 'sequences' | 'bytes'>;

export interface OverdueHold {
  readonly account_id: string;
  readonly hold_id: string;
}

const findOverdue = statement(
  'hold_find_overdue',
  `/* fan-out: holds that nobody settled in time, of any account */
   SELECT account_id, hold_id FROM core.hold WHERE status = 'active' AND expires_at <= core.clock_now() ORDER BY expires_at LIMIT $1`,
);

const noEffect: LaneEffect<null, null> = {
  name: 'hold',
  exclusiveKeys: () => [],
  read: async (_tx, items) => items.map(() => ({ kind: 'go', context: null })),
  write: (_tx, items) => items.map(() => 'null'),
};

// Memory of a waiting call without content.
const CALL_BYTES = 512;
const OVERDUE_PER_RUN = 200;
// A process that dies leaves the key and the money of its calls bound no longer than this.
const TERM_MS = 60_000;

export class Holds {
  /** Turns of this process's large effects. */
  readonly largeWrites: LimitFunction;
  /** Turns of the effects that wait for a long write: the long writes of others do not wait for them. */
  readonly deferredWrites: LimitFunction;
  readonly #db: Database;
  readonly #lanes: Lanes;
  readonly #renewal: HoldRenewal;
  readonly owner: string;
  readonly termMs: number;

  constructor(options: HoldsOptions) {
    const { db, log, owner, termMs = TERM_MS, bounds = admission } = options;
    this.largeWrites = pLimit(bounds.all.largeWritesAtOnce);
    this.deferredWrites = pLimit(bounds.all.largeWritesAtOnce);
    this.owner = owner;
    this.termMs = termMs;
    const onError = (err: unknown) => log.warn({ err }, 'holds could not be renewed; they are soon tried again');
    this.#renewal = new HoldRenewal({ db, owner, termMs, onError });
    this.#db = options.db;
    this.#lanes = options.lanes;
  }

  /** Reserves `call.amount` under every check of a billable call. `held`, `refused`, or `replayed` for a known idempotency key. */
  authorize(call: HoldCall): Promise<LaneOutcome> {
    return this.#lanes.submit({
      ...call,
      holdOwner: call.holdOwner ?? this.owner,
      mode: 'hold',
      effect: noEffect,
      input: null,
      sequences: 0,
      bytes: CALL_BYTES,
    });
  }

  /** Renews a hold of this process until `work` has ended: it never expires meanwhile. */
  during<T>(accountId: string, holdId: string, work: () => Promise<T>): Promise<T> {
    return this.#renewal.during(accountId, holdId, work);
  }

  /** Charges the actual price. Repeating it is safe: a settled hold answers what it is. Null when there is no such hold. */
  capture(accountId: string, holdId: string, capture: Capture): Promise<HoldSettlement | null> {
    return rideOut(() => this.#db.transaction((tx) => settleHold(tx, accountId, holdId, capture), accountId));
  }

  /** Gives everything back. `answer`: of a call that succeeded for nothing. */
  release(accountId: string, holdId: string, answer?: HeldAnswer): Promise<HoldSettlement | null> {
    return rideOut(() => this.#db.transaction((tx) => releaseHold(tx, accountId, holdId, answer), accountId));
  }

  /** Releases holds past their time, a bounded number; answers true when there may be more. */
  async expireOverdue(signal: AbortSignal): Promise<boolean> {
    const { rows } = await this.#db.query<OverdueHold>(findOverdue, [OVERDUE_PER_RUN]);
    const finished = await mendEach(rows, signal, async ({ account_id, hold_id }) => {
      await this.#db.transaction((tx) => expireHold(tx, account_id, hold_id), account_id);
    });
    return finished && rows.length === OVERDUE_PER_RUN;
  }
}
