// The guarded outbound client. Every address that users name is checked when it is registered and at every attempt. The socket goes to
// exactly the checked address (contract of webhooks). Redirects are followed only on request, each checked. Proxies are not supported.

import { type Address, type AddressRange, EVERYWHERE, isOfThisMachine, readAddress } from '../../lib/address.ts';
import { problem } from '../../problems/problem.ts';
import { SnippetSink, type StreamedAnswer, StreamSink } from './answers.ts';
import { connectPinned } from './connector.ts';
import { exchange } from './exchange.ts';
import { exchangeFailed, OutboundError } from './failure.ts';
import { type CheckedTarget, type JudgeRules, judge, OWN_PORT, type Resolve } from './guard.ts';
import { answeredUrlCharactersMax, type OutboundLimits, outboundLimits } from './limits.ts';
import { type Held, Pools } from './pools.ts';
import type {
  OutboundClient,
  OutboundOutcome,
  OutboundPost,
  OutboundReply,
  OutboundRequest,
  OutboundTunnel,
  TunnelReply,
} from './port.ts';
import { systemResolve } from './resolve.ts';
import { Sending } from './sending.ts';
import type { Refusal } from './target.ts';
import { checkWireHeaders } from './wire-headers.ts';

export interface OutboundOptions {
  /** ALLOW_PRIVATE_TARGETS: a URL that is called and whose every address lies in these may be plain http and of any name and port. */
  readonly allowPrivateTargets: readonly AddressRange[];
  /** ALLOW_PRIVATE_SOURCES: the same for a URL that is read. Whoever named it sees the answer. */
  readonly allowPrivateSources?: readonly AddressRange[];
  /** Ports of this service, which nothing is read from at an address of this machine. */
  readonly ownPorts?: () => ReadonlySet<number>;
  /** Names to addresses; replaced by tests. */
  readonly resolve?: Resolve;
  readonly limits?: Partial<OutboundLimits>;
}

export function createOutboundClient(options: OutboundOptions): OutboundClient {
  return new GuardedClient(options);
}

class GuardedClient implements OutboundClient {
  readonly #targets: readonly AddressRange[];
  readonly #sources: readonly AddressRange[];
  readonly #ownPorts: () => ReadonlySet<number>;
  readonly #resolve: Resolve;
  /** Of what the operator wrote: names of the machine too. */
  readonly #resolveAny: Resolve;
  readonly #limits: OutboundLimits;
  readonly #pools: Pools;

  constructor(options: OutboundOptions) {
    this.#targets = options.allowPrivateTargets;
    this.#sources = options.allowPrivateSources ?? [];
    this.#ownPorts = options.ownPorts ?? (() => NONE);
    this.#resolve = options.resolve ?? systemResolve(this.#targets.length + this.#sources.length > 0);
    this.#resolveAny = options.resolve ?? systemResolve(true);
    this.#limits = { ...outboundLimits, ...options.limits };
    this.#pools = new Pools(this.#limits);
  }

  async checkUrl(url: string, param: string, use: 'target' | 'source' = 'target'): Promise<string | null> {
    const resolve: Resolve = (host) => within(this.#limits.resolveMs, this.#resolve(host));
    const isRead = use === 'source';
    const verdict = isRead
      ? await judge(url, resolve, this.#sources, { isForbidden: this.#isOwnPort })
      : await judge(url, resolve, this.#targets);
    if (verdict.kind === 'refused') {
      throw problem('WEBHOOK_URL_REJECTED', {
        param,
        detail: verdict.refusal.rule,
        message: isRead ? verdict.refusal.message : `${verdict.refusal.message}${mendOf(verdict.refusal)}`,
      });
    }
    if (verdict.kind === 'admitted') return null;
    const then = isRead ? 'it cannot be read' : 'nothing can be delivered';
    return `${param}: the host ${verdict.host} does not resolve now; ${then} until it does.`;
  }

  async post({ url, headers, body, signal, timeoutMs }: OutboundPost): Promise<OutboundOutcome> {
    const totalMs = timeoutMs ?? this.#limits.totalMs;
    const { snippetBytesMax, answerBytesMax, connectMs } = this.#limits;
    const startedMs = performance.now();
    const ending = new Ending(signal, totalMs);
    const within = { connectMs, firstByteMs: totalMs, idleMs: totalMs, answerBytesMax, signal: ending.signal };
    try {
      checkWireHeaders(headers);
      const answer = await this.#first(
        await this.#admit(url, ending.signal, connectMs, { resolve: this.#resolve, allowed: this.#targets }),
        connectMs,
        (held, to) => {
          const sink = new SnippetSink(snippetBytesMax);
          exchange(held.pool, { ...within, ...to, method: 'POST', headers, body }, sink);
          return sink.answer.finally(held.release);
        },
      );
      return { kind: 'answered', ...answer, latencyMs: since(startedMs) };
    } catch (error) {
      return failedAnswer(error, startedMs);
    } finally {
      ending.clear();
    }
  }

  async send(request: OutboundRequest): Promise<OutboundReply> {
    const startedMs = performance.now();
    const ending = new Ending(request.signal, request.limits.totalMs);
    const sending = new Sending(request);
    try {
      for (let redirects = 0; ; redirects += 1) {
        const { url } = sending;
        const { answer, isExempt } = await this.#ask(sending, ending.signal);
        if (redirects < (request.redirectsMax ?? 0) && sending.follow(answer)) {
          answer.body.destroy();
          continue;
        }
        const { status, headers, body, done } = answer;
        void done.then(() => ending.clear());
        return { kind: 'answered', status, headers, url, isExempt, body, latencyMs: since(startedMs) };
      }
    } catch (error) {
      ending.clear();
      sending.discard();
      return { ...failedAnswer(error, startedMs), sent: sending.sent };
    }
  }

  async openTunnel({ host, port, isPublicOnly = false, signal }: OutboundTunnel): Promise<TunnelReply> {
    const startedMs = performance.now();
    const { connectMs, totalMs } = this.#limits;
    const ending = new Ending(signal, totalMs);
    try {
      const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
      const rules = { resolve: this.#resolve, allowed: isPublicOnly ? [] : this.#sources };
      const checked = await this.#admit(url, ending.signal, connectMs, { ...rules, isForbidden: this.#isOwnPort });
      // Of public addresses, too: a tunnel to this service would lead to the next one.
      if (checked.addresses.some((address) => this.#isOwnPort(readAddress(address) as Address, port)))
        throw new OutboundError('refused', OWN_PORT.message);
      const socket = await this.#firstAddress(checked, connectMs, (address, shareMs) =>
        connectPinned({ secure: false, host: checked.target.host, port, address }, shareMs),
      );
      if (ending.signal.aborted) socket.destroy();
      ending.signal.throwIfAborted();
      return { kind: 'open', socket };
    } catch (error) {
      return failedAnswer(error, startedMs);
    } finally {
      ending.clear();
    }
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  async #ask(sending: Sending, signal: AbortSignal): Promise<{ answer: StreamedAnswer; isExempt: boolean }> {
    const { limits } = sending.request;
    const connectMs = limits.connectMs ?? this.#limits.connectMs;
    const wire = await sending.wire();
    const { isOfWeb = false } = sending.request;
    const checked = await this.#admit(sending.url, signal, connectMs, {
      charactersMax: answeredUrlCharactersMax,
      isOfWeb,
      ...this.#rulesOf(sending),
    });
    const answer = await this.#first(checked, connectMs, (held, to) => {
      const sink = new StreamSink(held.release, wire.headers['accept-encoding'] !== undefined);
      const { firstByteMs, idleMs, answerBytesMax } = limits;
      const within = { firstByteMs, idleMs, answerBytesMax, signal };
      const flow = exchange(held.pool, { ...wire, ...within, ...to }, sink);
      sending.on(flow);
      sink.use(flow);
      return sink.answer;
    });
    return { answer, isExempt: checked.isExempt };
  }

  /** Asks the first address that takes a connection. */
  #first<A>(
    checked: CheckedTarget,
    connectMs: number,
    ask: (held: Held, to: { readonly path: string; readonly connectMs: number }) => Promise<A>,
  ): Promise<A> {
    const { secure, host, port, path } = checked.target;
    return this.#firstAddress(checked, connectMs, async (address, shareMs) =>
      ask(await this.#pools.hold({ secure, host, port, address }), { path, connectMs: shareMs }),
    );
  }

  async #firstAddress<A>(
    { addresses }: CheckedTarget,
    connectMs: number,
    ask: (address: string, connectMs: number) => Promise<A>,
  ): Promise<A> {
    const tried = addresses.slice(0, this.#limits.addressesTriedMax);
    const connectByMs = performance.now() + connectMs;
    for (const [i, address] of tried.entries()) {
      const left = tried.length - i;
      const shareMs = Math.max(1, (connectByMs - performance.now()) / left);
      try {
        return await ask(address, shareMs);
      } catch (error) {
        if (left === 1 || !(error instanceof OutboundError && error.beforeSending)) throw error;
      }
    }
    throw new OutboundError('dns', 'The host has no address.');
  }

  #rulesOf({ isOperators, request: { isPublicOnly = false } }: Sending): AdmitRules {
    if (isOperators) return { resolve: this.#resolveAny, allowed: EVERYWHERE };
    const allowed = isPublicOnly ? [] : this.#sources;
    return { resolve: this.#resolve, allowed, isForbidden: this.#isOwnPort };
  }

  readonly #isOwnPort = (address: Address, port: number): boolean =>
    this.#ownPorts().has(port) && isOfThisMachine(address);

  async #admit(
    url: string,
    signal: AbortSignal,
    connectMs: number,
    { resolve, allowed, ...rules }: AdmitRules,
  ): Promise<CheckedTarget> {
    const verdict = await judge(url, (host) => within(connectMs, resolve(host), signal), allowed, rules);
    signal.throwIfAborted();
    if (verdict.kind === 'admitted') return verdict;
    if (verdict.kind === 'refused') throw new OutboundError('refused', verdict.refusal.message);
    throw new OutboundError('dns', 'The host does not resolve.', { cause: verdict.cause });
  }
}

interface AdmitRules extends JudgeRules {
  readonly resolve: Resolve;
  readonly allowed: readonly AddressRange[];
}

const NONE: ReadonlySet<number> = new Set();

function failedAnswer(error: unknown, startedMs: number) {
  const { code, message } = exchangeFailed(error);
  return { kind: 'failed', code, message, latencyMs: since(startedMs) } as const;
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

/** What helps who means a machine of their own. */
function mendOf({ rule }: Refusal): string {
  if (rule === 'url' || rule === 'userinfo') return '';
  return ' For a program on your own machine or network: this service admits the addresses in its setting ALLOW_PRIVATE_TARGETS, and `qm events listen --forward` brings events there.';
}

function since(startedMs: number): number {
  return Math.round(performance.now() - startedMs);
}

/**
 * Look-ups that others answer have no end: `work`, or a rejection after `ms`, or at once when the signal aborts. The work itself goes on; its later outcome is of no interest.
 */
async function within<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const end = Promise.withResolvers<never>();
  const timer = setTimeout(() => end.reject(new Error(`no answer within ${ms} ms`)), ms);
  const onAbort = () => end.reject(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, end.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
