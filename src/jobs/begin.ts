// Begins a job: its row, its hold and the answer of its call are one commit. Live jobs are counted under the wallet lock, so an account never
// has more than its tier allows.
import { openTurn } from '../core/background/turns.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../core/wallet/lane/lane-item.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { problem } from '../problems/problem.ts';
import type { JobKind } from './kind.ts';
import type { Shown } from './record.ts';
import type { JobRow } from './row.ts';

/** A job as its call wants it. */
export interface NewJob {
  readonly row: Omit<JobRow, 'hold_id' | 'created_at' | 'due_at' | 'deadline_at'>;
  /** From its acceptance to its deadline. */
  readonly deadlineMs: number;
  /** Live jobs that the account may have. */
  readonly jobsMax: number;
  readonly webhookUrl: string | null;
}

type Item = LaneItem<NewJob, null>;

export class BeginJob implements LaneEffect<NewJob, null> {
  readonly name: string;
  readonly #kind: JobKind;
  readonly #shown: Omit<Shown, 'nowMs'>;

  constructor(kind: JobKind, shown: Omit<Shown, 'nowMs'>) {
    this.name = `${kind.tables.shape.name}.begin`;
    this.#kind = kind;
    this.#shown = shown;
  }

  /** One at a time: each is counted against the limit. */
  exclusiveKeys({ accountId }: Item): readonly string[] {
    return [accountId];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<null>[]> {
    const { shape, store } = this.#kind.tables;
    const accounts = [...new Set(items.map(({ accountId }) => accountId))].sort();
    const live = await store.live(tx, accounts);
    return items.map(({ accountId, input: { jobsMax } }) =>
      (live.get(accountId) ?? 0) < jobsMax
        ? { kind: 'go', context: null }
        : { kind: 'refuse', problem: tooManyJobs(shape.name, jobsMax) },
    );
  }

  write(tx: Transaction, items: readonly AdmittedItem<NewJob, null>[], nowMs: number): string[] {
    const { store, webhooks } = this.#kind.tables;
    return items.map(({ item: { accountId, input }, holdId }) => {
      const row: JobRow = {
        ...input.row,
        hold_id: holdId as string,
        created_at: nowMs,
        due_at: nowMs,
        deadline_at: nowMs + input.deadlineMs,
      };
      store.sendInsert(tx, row);
      void openTurn(tx, accountId, row.work, nowMs);
      const told = input.webhookUrl === null ? [] : [webhooks.send(tx, row, 1, input.webhookUrl, nowMs)];
      return JSON.stringify(this.#kind.record(row, told, { ...this.#shown, nowMs }));
    });
  }
}

/** The refusal of a job beyond those that an account may have. */
export function tooManyJobs(name: string, jobsMax: number) {
  return problem('CONCURRENCY_LIMITED', {
    detail: `${name}_jobs`,
    message: `The account has its ${jobsMax} live ${name} jobs; wait until one has ended, or cancel one.`,
    retryAfterMs: 5_000,
  });
}
