// What a wallet must do, said a second time and as plainly as possible: no rows, no windows that roll, only sums over what happened.
import { startOfDay, startOfMonth } from '../../src/lib/time.ts';

export interface ModelGrant {
  readonly kind: 'promo' | 'paid';
  readonly expiresAtMs: number | null;
  left: bigint;
}

interface Part {
  readonly grant: ModelGrant;
  readonly amount: bigint;
}

export interface ModelHold {
  readonly id: string;
  readonly key: number;
  readonly atMs: number;
  readonly amount: bigint;
  readonly parts: readonly Part[];
  status: 'active' | 'captured' | 'released' | 'expired';
  captured: bigint;
}

export type Outcome = 'done' | 'held' | 'balance' | 'key_cap' | 'budget_daily' | 'budget_monthly';

export interface ModelCap {
  readonly period: 'total' | 'daily' | 'monthly';
  readonly cap: bigint;
}

export const HOLD_MS = 15 * 60_000;

export class WalletModel {
  nowMs: number;
  readonly grants: ModelGrant[] = [];
  readonly holds: ModelHold[] = [];
  budget: { period: 'daily' | 'monthly'; cap: bigint | null } | null = null;
  /** Of each key that has one. */
  readonly caps = new Map<number, ModelCap>();
  /** Money that left by which key, with the moment it counts at. */
  readonly #spent: { readonly key: number; readonly atMs: number; readonly amount: bigint }[] = [];

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  get balance(): bigint {
    return this.grants.reduce((sum, grant) => sum + grant.left, 0n);
  }

  get held(): bigint {
    return this.holds.filter((hold) => hold.status === 'active').reduce((sum, hold) => sum + hold.amount, 0n);
  }

  get spent(): bigint {
    return this.#spent.reduce((sum, { amount }) => sum + amount, 0n);
  }

  get spendable(): bigint {
    return this.grants.filter((grant) => this.#isOpen(grant)).reduce((sum, grant) => sum + this.#free(grant), 0n);
  }

  grant(kind: ModelGrant['kind'], amount: bigint, expiresInMs: number | null): void {
    this.grants.push({ kind, left: amount, expiresAtMs: expiresInMs === null ? null : this.nowMs + expiresInMs });
  }

  ask(key: number, mode: 'charge' | 'hold', amount: bigint): Outcome {
    const own = this.caps.get(key);
    if (own !== undefined) {
      const { used, held } = this.inWindow(own.period, key);
      if (own.cap === 0n || used + held + amount > own.cap) return 'key_cap';
    }
    if (this.budget !== null && this.budget.cap !== null) {
      const { cap, period } = this.budget;
      const { used, held } = this.inWindow(period);
      if (cap === 0n || used + held + amount > cap) return `budget_${period}`;
    }
    if (amount > this.spendable) return 'balance';
    const parts = this.#take(amount);
    if (mode === 'charge') {
      for (const part of parts) part.grant.left -= part.amount;
      this.#spent.push({ key, atMs: this.nowMs, amount });
      return 'done';
    }
    this.holds.push({ id: '', key, atMs: this.nowMs, amount, parts, status: 'active', captured: 0n });
    return 'held';
  }

  capture(hold: ModelHold, amount: bigint): void {
    if (hold.status !== 'active') return;
    let missing = amount;
    for (const part of hold.parts) {
      const taken = part.amount < missing ? part.amount : missing;
      part.grant.left -= taken;
      missing -= taken;
    }
    this.#spent.push({ key: hold.key, atMs: hold.atMs, amount });
    Object.assign(hold, { status: 'captured', captured: amount });
  }

  release(hold: ModelHold, status: 'released' | 'expired'): void {
    if (hold.status === 'active') hold.status = status;
  }

  expireHolds(): void {
    for (const hold of this.holds) if (hold.atMs + HOLD_MS <= this.nowMs) this.release(hold, 'expired');
  }

  expireGrants(): void {
    for (const grant of this.grants) if (!this.#isOpen(grant)) grant.left = this.#reserved(grant);
  }

  #take(amount: bigint): Part[] {
    const order = this.grants
      .filter((grant) => this.#isOpen(grant) && this.#free(grant) > 0n)
      .map((grant, i) => ({ grant, rank: [grant.kind === 'promo' ? 0 : 1, grant.expiresAtMs ?? Infinity, i] }))
      .sort(
        (a, b) =>
          a.rank.map((value, i) => (value === b.rank[i] ? 0 : value - (b.rank[i] as number))).find((d) => d !== 0) ?? 0,
      );
    let missing = amount;
    return order.flatMap(({ grant }) => {
      const free = this.#free(grant);
      const part = free < missing ? free : missing;
      missing -= part;
      return part === 0n ? [] : [{ grant, amount: part }];
    });
  }

  #isOpen(grant: ModelGrant): boolean {
    return grant.expiresAtMs === null || grant.expiresAtMs > this.nowMs;
  }

  #reserved(grant: ModelGrant): bigint {
    const active = this.holds.filter((hold) => hold.status === 'active').flatMap((hold) => hold.parts);
    return active.filter((part) => part.grant === grant).reduce((sum, part) => sum + part.amount, 0n);
  }

  #free(grant: ModelGrant): bigint {
    return grant.left - this.#reserved(grant);
  }

  /** What was charged for and is held by work begun in the window of now, of one key or of all. */
  inWindow(period: ModelCap['period'], key: number | null = null): { used: bigint; held: bigint } {
    const startOf = { total: () => 0, daily: startOfDay, monthly: startOfMonth }[period];
    const isNow = (event: { key: number; atMs: number }) =>
      startOf(event.atMs) === startOf(this.nowMs) && (key === null || event.key === key);
    const sum = (all: readonly { amount: bigint }[]) => all.reduce((total, { amount }) => total + amount, 0n);
    return {
      used: sum(this.#spent.filter(isNow)),
      held: sum(this.holds.filter((hold) => hold.status === 'active' && isNow(hold))),
    };
  }
}
