// Limit of failed authentication per address: after 20 failures in a minute, further failing calls are told to wait; valid keys always pass.
import { admission } from '../../core/admission.ts';
import { lruOf } from '../../lib/lru.ts';
import { networkOf } from '../../lib/network-of.ts';

const { failedLoginsMax, failedLoginsWindowMs, addressesMax } = admission.address;

export interface LoginFailures {
  /** Counts a failure; answers how long to wait in milliseconds when there were too many, else 0. */
  fail(address: string): number | Promise<number>;
}

export class FailedLogins implements LoginFailures {
  readonly #failuresMax: number;
  readonly #windows = lruOf<{ startMs: number; failures: number }>(addressesMax);

  constructor(failuresMax = failedLoginsMax) {
    this.#failuresMax = failuresMax;
  }

  fail(address: string, nowMs: number = performance.now()): number {
    const network = networkOf(address);
    let window = this.#windows.get(network);
    if (window === undefined || nowMs - window.startMs >= failedLoginsWindowMs) {
      window = { startMs: nowMs, failures: 0 };
      this.#windows.set(network, window);
    }
    window.failures += 1;
    return this.waitMs(address, nowMs);
  }

  /** How long the address is to wait, in milliseconds, when it has failed too often; else 0. Counts nothing. */
  waitMs(address: string, nowMs: number = performance.now()): number {
    const window = this.#windows.get(networkOf(address));
    if (window === undefined || window.failures <= this.#failuresMax) return 0;
    return Math.max(0, Math.ceil(failedLoginsWindowMs - (nowMs - window.startMs)));
  }
}
