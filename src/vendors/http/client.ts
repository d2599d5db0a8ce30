// The guarded outbound client: every address that users name is checked when it is registered and again at every attempt, and the
// socket goes to exactly what was checked (contract §10). It follows no redirect and knows no proxy.
import { problem } from '../../problems/problem.ts';
import type { AddressRange } from './address.ts';
import { type Answer, exchange } from './exchange.ts';
import { exchangeFailed, OutboundError } from './failure.ts';
import { type Admission, judge, type Resolve } from './guard.ts';
import { type OutboundLimits, outboundLimits } from './limits.ts';
import { Pools } from './pools.ts';
import type { OutboundClient, OutboundOutcome, OutboundPost } from './port.ts';
import { systemResolve } from './resolve.ts';
import { checkWireHeaders } from './wire-headers.ts';
import { within } from './within.ts';

export interface OutboundOptions {
  /** ALLOW_PRIVATE_TARGETS: a URL whose every address lies in these may be plain http and of any name and port. */
  readonly allowPrivateTargets: readonly AddressRange[];
  /** Names to addresses; replaced by tests. */
  readonly resolve?: Resolve;
  readonly limits?: Partial<OutboundLimits>;
}

export function createOutboundClient(options: OutboundOptions): OutboundClient {
  return new GuardedClient(options);
}

class GuardedClient implements OutboundClient {
  readonly #allowed: readonly AddressRange[];
  readonly #resolve: Resolve;
  readonly #limits: OutboundLimits;
  readonly #pools: Pools;

  constructor(options: OutboundOptions) {
    this.#allowed = options.allowPrivateTargets;
    this.#resolve = options.resolve ?? systemResolve(this.#allowed.length > 0);
    this.#limits = { ...outboundLimits, ...options.limits };
    this.#pools = new Pools(this.#limits);
  }

  async checkUrl(url: string, param: string): Promise<string | null> {
    const resolve: Resolve = (host) => within(this.#limits.resolveMs, this.#resolve(host));
    const verdict = await judge(url, resolve, this.#allowed);
    if (verdict.kind === 'refused') {
      throw problem('WEBHOOK_URL_REJECTED', {
        param,
        detail: verdict.refusal.rule,
        message: verdict.refusal.message,
      });
    }
    if (verdict.kind === 'admitted') return null;
    return `${param}: the host ${verdict.host} does not resolve now; nothing can be delivered until it does.`;
  }

  async post(request: OutboundPost): Promise<OutboundOutcome> {
    const startedMs = performance.now();
    const ending = new Ending(request.signal, this.#limits.totalMs);
    try {
      const answer = await this.#attempt(request, ending.signal);
      return { kind: 'answered', ...answer, latencyMs: since(startedMs) };
    } catch (error) {
      const { code, message } = exchangeFailed(error);
      return { kind: 'failed', code, message, latencyMs: since(startedMs) };
    } finally {
      ending.clear();
    }
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  async #attempt(request: OutboundPost, signal: AbortSignal): Promise<Answer> {
    checkWireHeaders(request.headers);
    const { target, addresses } = await this.#admit(request.url, signal);
    const { addressesTriedMax, connectMs } = this.#limits;
    const tried = addresses.slice(0, addressesTriedMax);
    const connectByMs = performance.now() + connectMs;
    for (const [i, address] of tried.entries()) {
      const left = tried.length - i;
      const shareMs = Math.max(1, (connectByMs - performance.now()) / left);
      const pin = { secure: target.secure, host: target.host, port: target.port, address };
      const { headers, body } = request;
      try {
        const sent = { path: target.path, headers, body, connectMs: shareMs, signal };
        return await this.#pools.use(pin, (pool) => exchange(pool, sent, this.#limits));
      } catch (error) {
        if (left === 1 || !(error instanceof OutboundError && error.beforeSending)) throw error;
      }
    }
    throw new OutboundError('dns', 'The host has no address.');
  }

  async #admit(url: string, signal: AbortSignal): Promise<Admission> {
    const verdict = await judge(
      url,
      (host) => within(this.#limits.connectMs, this.#resolve(host), signal),
      this.#allowed,
    );
    signal.throwIfAborted();
    if (verdict.kind === 'admitted') return verdict;
    if (verdict.kind === 'refused') throw new OutboundError('refused', verdict.refusal.message);
    throw new OutboundError('dns', 'The host does not resolve.', { cause: verdict.cause });
  }
}

/** When an attempt must end: the caller's signal, or the time is up. `signal` aborts with an OutboundError. */
class Ending {
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #controller = new AbortController();

  constructor(caller: AbortSignal, totalMs: number) {
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#end('timeout', 'The receiver did not answer in time.'), totalMs);
    if (caller.aborted) this.#onCaller();
    caller.addEventListener('abort', this.#onCaller);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The caller's signal lives as long as the process: nothing may stay on it. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#onCaller);
  }

  readonly #onCaller = (): void => this.#end('aborted', 'The attempt was ended because the service stops.');

  #end(code: 'timeout' | 'aborted', message: string): void {
    this.#controller.abort(new OutboundError(code, message));
  }
}

function since(startedMs: number): number {
  return Math.round(performance.now() - startedMs);
}
