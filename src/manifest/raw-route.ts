// A route that speaks another protocol than the JSON envelope: an SDK's wire format, an HTML page. The surface mounts it at its path
// and does for it what it does for every call (places, metrics, request ids, keys, scopes, rates); the module reads and answers bytes.
import type { IncomingHttpHeaders } from 'node:http';
import type { CallContext } from '../core/context.ts';
import type { Credential } from '../core/credentials/credential.ts';
import type { Problem } from '../problems/problem.ts';
import type { HttpMethod } from './capability.ts';

/** What is known of a request before its body is read. */
export interface RawHead {
  readonly method: string;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  /** The one that the answer carries as X-Request-Id. */
  readonly requestId: string;
}

/** What is made of the body of a raw route: in a thread when it is long. */
export interface BodyTask<Result> {
  /** URL of the file that exports it: a worker loads it. */
  readonly source: string;
  readonly id: string;
  /** What it answers must survive structured cloning. */
  run(body: Buffer): Result;
}

export interface RawRequest extends RawHead {
  /** As it was sent, not decompressed; empty when there is none. */
  readonly body: Buffer;
  /** The call that it is, once it is admitted: by the credential of its head, or by `admit`. Null: it has shown none yet. */
  readonly ctx: CallContext | null;
  /**
   * Admits the request as a call of the route's capability by this credential; null: none was sent. The same steps as for every call:
   * who calls, failing addresses, scopes, rates. Throws the Problem of a refusal.
   */
  admit(credential: Credential | null): Promise<CallContext>;
  /** Whose share of the service the request takes: its account, or all that come without a key. */
  readonly sharer: string;
  /** What the task makes of `body`, here or, when it is long, in a thread: then the body is handed over and empty afterwards. */
  read<Result>(task: BodyTask<Result>, body: Buffer): Result | Promise<Result>;
}

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. X-Request-Id and Traceparent are added; nothing else is. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
  /** What was charged for it; absent: nothing. */
  readonly costNanos?: bigint;
}

export interface RawRoute<State = unknown> {
  /** In metrics and the log: `<module>.<protocol>`. */
  readonly name: string;
  readonly methods: readonly (HttpMethod | 'OPTIONS')[];
  /** From the root, with `{name}` parameters. */
  readonly path: string;
  /** Id of the module's capability that `admit` asks scopes and rates of. */
  readonly capability: string;
  /** Bytes of the body as sent; without a key in the head it is held against a bound of all such requests. */
  readonly bodyBytesMax: number;
  /** The credential in the head: when it is refused, the body is not read. Null, or absent: `answer` admits the request. */
  credentialOf?(head: RawHead): Credential | null;
  /** Throws a Problem to have it answered by `refuse`. */
  answer(request: RawRequest, state: State): Promise<RawAnswer>;
  /** How a failure is told, whoever found it; absent: by the JSON envelope. Retry-After is the route's affair then. */
  refuse?(failure: Problem, head: RawHead): RawAnswer;
}
