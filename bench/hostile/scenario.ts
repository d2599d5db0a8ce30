// What one scenario is.
import type { BenchAccount } from '../support/service.ts';
import type { AttackOrder } from './attacker.ts';

export interface Scenario {
  readonly name: string;
  readonly what: string;
  /** Of what is attacked, when that is not the service. */
  readonly url?: string;
  readonly orders: readonly Omit<AttackOrder, 'seconds' | 'url'>[];
  /** Accounts whose wallets another connection of the database locks meanwhile. */
  readonly locked?: readonly BenchAccount[];
  /** What is to succeed meanwhile, beside the victim. */
  readonly beside?: { readonly name: string; run(): Promise<boolean> };
  /** Whether /healthz is asked on new connections meanwhile. */
  readonly probesHealth?: boolean;
}
