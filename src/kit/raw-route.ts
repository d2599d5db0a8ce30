// A route that speaks another protocol than the JSON envelope: an SDK's wire format, or HTML. The surface mounts it at its path and provides
// what every call gets: places, metrics, request IDs, keys, scopes, rates. The module reads and answers bytes.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { TObject } from 'typebox';
import type { InvokedInput } from '../core/callers/context.ts';
import type { EntryForm } from '../core/callers/entry-form.ts';
import type { Principal } from '../core/callers/principal.ts';
import type { BodyCredential, Credential } from '../core/credentials/credential.ts';
import type { Encoding } from '../core/inflate.ts';
import type { Ranged } from '../lib/ranges.ts';
import type { Problem } from '../problems/problem.ts';
import type { Answer, HttpMethod } from './capability.ts';
import type { CallContext } from './services.ts';

/** What is known of a request before its body is read. */
export interface RawHead {
  readonly method: string;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  /** Path and query as they were sent. */
  readonly url: string;
  /** The same as they are routed: where a host or a port has a root of its own (S3_DOMAIN, S3_PORT), what was sent is below the route's. */
  readonly routed: string;
  /** The one that the answer carries as X-Request-Id. */
  readonly requestId: string;
  /** What the envelope tells of a failure as `metadata`; null while the service starts or stops. */
  failureMetadata(): object | null;
}

/** What is made of the body of a raw route: in a thread when it is long. */
export interface BodyTask<Result> {
  /** URL of the file that exports it: a worker loads it. */
  readonly source: string;
  readonly id: string;
  /** Up to so many bytes are read where they arrived: some 2 ms of processor time. What JSON of a call may have, when absent. */
  readonly hereBytesMax?: number;
  /** What it answers must survive structured cloning. */
  run(body: Buffer): Result;
}

export interface RawRequest extends RawHead {
  /**
   * As it was sent, not decompressed, but without the chunks of its credential's protocol, and compared with what that signed; empty
   * when there is none, or when it is a stream.
   */
  readonly body: Buffer;
  /**
   * The body of a route that takes it as a stream, without its content encoding. Read no faster than it is used. Ends with PAYLOAD_TOO_LARGE
   * beyond the bounds, and fails where it is not what the credential signed: at its end at the latest, so nothing is kept before.
   */
  readonly stream: Readable;
  /**
   * What `use` makes of the body without its content encoding, block by block: few at a time, in turns by account. The blocks count among
   * what bodies may hold until `use` has ended.
   */
  inflate<Result>(use: (blocks: AsyncIterable<Buffer>) => Promise<Result>): Promise<Result>;
  /** Aborted when the client goes away, or the service stops. */
  readonly signal: AbortSignal;
  /** The call that it is, once it is admitted: by the credential of its head, or by `admit`. Null: it has shown none yet. */
  readonly ctx: CallContext | null;
  /**
   * Admits the request as a call of the route's capability by this credential; null: none was sent. The same steps as for every call:
   * who calls, failing addresses, scopes, rates. Throws the Problem of a refusal.
   */
  admit(credential: Credential | null): Promise<CallContext>;
  /** Of a route without a capability: who calls, by the credential of its head or by `identify`. Null: it has shown none yet. */
  readonly principal: Principal | null;
  /** As `admit`, of a route without a capability: nothing is asked but who calls. Each call that it makes is asked for its own. */
  identify(credential: Credential | null): Promise<Principal>;
  /** Calls a capability of any module for the one who sent the request, as a call of its own. Never throws for what it fails with. */
  invoke(capability: string, input: InvokedInput, options?: RawInvokeOptions): Promise<RawOutcome>;
  /**
   * Makes a call of a capability of the module by `work`, in place of the capability's own run: for a protocol that reads its input
   * itself. Scope, rates and figures are the capability's. Throws the Problem of a refusal or failure.
   */
  perform(capability: string, work: (ctx: CallContext) => Promise<Answer>): Promise<Answer>;
  /**
   * Asks for scope and takes the rate of a call of the first of the capabilities that the scopes allow, before anything of the body is
   * decoded or looked up. The next `invoke` or `perform` of it is that call. Throws ACCOUNT_SUSPENDED, INSUFFICIENT_SCOPE, RATE_LIMITED.
   */
  admitCall(...capabilities: readonly string[]): Promise<void>;
  /** Takes one of the account's free reads, for what is no call of a capability, and more for a long body. Throws RATE_LIMITED. */
  rate(bodyBytes?: number): Promise<void>;
  /** Takes further free reads for a long answer: the next request waits for them. */
  weighAnswer(bytes: number): void;
  /** What the envelope tells of an answer of the route's capability as `metadata`. */
  metadata(answer: Answer): object;
  /**
   * Gives the call its idempotency key: that of the head and, when there is one, `inBody`. `fingerprint`: of the request. Throws
   * INVALID_IDEMPOTENCY_KEY.
   */
  takeKey(inBody: unknown, fingerprint: () => string): void;
  /** Header fields that its answer carries in place of those of `headersFor`, also where it fails from now on. */
  carry(headers: Readonly<Record<string, string>>): void;
  /** Whose share of the service the request takes: its account, or all that come without a key. */
  readonly sharer: string;
  /** What the task makes of `body`, here or, when it is long, in a thread: then the body is handed over and empty afterwards. */
  read<Result>(task: BodyTask<Result>, body: Buffer): Result | Promise<Result>;
}

/** What tells a call from others, in the names of its capability. */
export interface AskedInput {
  readonly input: Readonly<Record<string, unknown>>;
  /** The rest of it, which is read only where a rule may meet the call. */
  readonly content?: () => Promise<Readonly<Record<string, unknown>>>;
}

export interface RawInvokeOptions {
  readonly idempotencyKey?: string;
  /** What tells a repeat under the key from another call, in place of the input; absent: the input. */
  readonly fingerprint?: string;
}

/** What a capability answered to a raw route. */
export interface RawOutcome {
  readonly status: number;
  /** The envelope that REST would answer, as JSON text. */
  readonly envelope: string;
  /** Null: it failed. */
  readonly answer: Answer | null;
  readonly problem: Problem | null;
}

/** Bytes of which a client may ask for a part: ranges, If-Range and HEAD are seen to. */
export interface RawContent extends Ranged {
  /** HEAD answers a range as GET does, as Amazon S3 has it; absent: HEAD tells of the whole (RFC 9110, section 14.2). */
  readonly rangesOfHead?: true;
  /** The bytes from `start` to `end`, both included. */
  open(start: number, end: number): AsyncIterable<Uint8Array>;
}

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. X-Request-Id and Traceparent are added, nosniff, and a policy that closes it in a sandbox (http/origin.ts), unless one stands here. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** What is iterated over is written as it comes, and returned to when the client leaves; for routes that `stream`. */
  readonly body: string | Buffer | AsyncIterable<string | Uint8Array> | RawContent;
  /** Of what is iterated over: written whenever nothing has been for so long. */
  readonly beat?: { readonly everyMs: number; readonly text: string };
  /** What was charged for it; absent: nothing. A function is asked at the end. */
  readonly costNanos?: bigint | (() => bigint);
}

/** A stream of Server-Sent Events, as the documents of the service tell it. */
export interface EventStream {
  /** One sentence. */
  readonly summary: string;
  /** The fields of its query. */
  readonly query: TObject;
  /** What the data of an event is. */
  readonly event: string;
  /** The capability whose scope it asks for, where the route is a call of none. */
  readonly reads?: string;
}

export interface RawRoute<State = unknown> {
  /** In metrics and the log: `<module>.<protocol>`. */
  readonly name: string;
  readonly methods: readonly (HttpMethod | 'HEAD' | 'OPTIONS')[];
  /** From the root, with `{name}` parameters; one at the end may be `{name*}`, the rest of the path. */
  readonly path: string;
  /** Id of the module's capability that it is a call of. Null: it only makes calls, by `invoke`. */
  readonly capability: string | null;
  /** How its calls came in; `rest` when absent. */
  readonly entryForm?: EntryForm;
  /** Of a route without a capability that is entered by the credential of its head: taken before its body is read. */
  readonly rate?: 'received';
  /** `answer`: it may answer as it comes; `both`: it also takes its body so. */
  readonly stream?: 'answer' | 'both';
  /** Of a route that answers GET with events. */
  readonly eventStream?: EventStream;
  /** Only what is sent as multipart/form-data; other bodies go to the route of the same path without this. */
  readonly takesForms?: true;
  /** Bytes of the body as sent; without a key in the head it is held against a bound of all such requests. */
  readonly bodyBytesMax: number;
  /** Content encodings that `stream` and `inflate` undo; any other is 415. Absent: none. `kept`: any, and none is undone. */
  readonly encodings?: readonly Encoding[] | 'kept';
  /** The content encoding aws-chunked of a body that is in no chunks says nothing; absent: it is refused. */
  readonly passesAwsChunked?: true;
  /** Bytes of the body without its encoding; as many as `bodyBytesMax` when absent. */
  readonly inflatedBytesMax?: number;
  /** Header fields of its answer, whatever it is, failures too: found before anybody is asked who calls. */
  headersFor?(head: RawHead, state: State): Promise<Readonly<Record<string, string>>>;
  /** The credential in the head: when it is refused, the body is not read. Null, or absent: `answer` admits the request. */
  credentialOf?(head: RawHead, state: State): Credential | null;
  /**
   * Where `credentialOf` finds none: the credential that only the whole body completes. Null: the request is refused before its body is
   * read. `answer` then always has a principal.
   */
  bodyCredentialOf?(head: RawHead): BodyCredential | null;
  /** Capabilities that may get a body too long to be read at once. None: such a body is answered 413. Absent: all. */
  longBodyFor?(head: RawHead): readonly string[];
  /** Its answers are scripts and styles of this service's own pages: only of such routes may a page of this origin load any. */
  readonly isOfPages?: true;
  /** Scripts of the console's pages may call it too, as the visitor (surfaces/pages/page-route.ts). */
  readonly isForPages?: boolean;
  /** Of a route with a capability: what approval rules look at; absent: the request as it was sent. */
  asked?(request: RawRequest): AskedInput;
  /** Throws a Problem to have it answered by `refuse`. */
  answer(request: RawRequest, state: State): Promise<RawAnswer>;
  /** How a failure is told, whoever found it; absent: by the JSON envelope. Retry-After is the route's affair then. */
  refuse?(failure: Problem, head: RawHead): RawAnswer;
}
