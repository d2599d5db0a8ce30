// A server on its own port of a protocol that the service's own port does not speak, such as SMTP. The surface listens, and stops it with the service. The module implements the
// protocol and makes calls through the ProtocolDoor it is given.

import type { EntryForm } from '../core/callers/entry-form.ts';
import type { Principal } from '../core/callers/principal.ts';
import type { Credential } from '../core/credentials/credential.ts';
import type { Answer } from './capability.ts';
import type { CallContext } from './services.ts';

/** How what comes in by the server becomes calls. */
export interface ProtocolDoor {
  /** Who calls. Failures count for the address as those of every door do. Throws INVALID_API_KEY, RATE_LIMITED, ACCOUNT_SUSPENDED. */
  identify(credential: Credential, remoteAddress: string): Promise<Principal>;
  /**
   * Makes a call of a capability by `work`, in place of the capability's own run: scope, rate and figures are the capability's, and the
   * principal is looked up again. Throws the Problem of a refusal or failure.
   */
  perform(call: ProtocolCall, work: (ctx: CallContext) => Promise<Answer>): Promise<Answer>;
}

export interface ProtocolCall {
  readonly capability: string;
  readonly entryForm: EntryForm;
  /** For the request log; the path has no query. */
  readonly method: string;
  readonly path: string;
  readonly principal: Principal;
  /** What tells the call from others, in the names of the capability. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The rest of it, which is read only where a rule may meet the call. */
  readonly content?: () => Promise<Readonly<Record<string, unknown>>>;
  /** Of what was sent: the rate is weighed by it. */
  readonly bodyBytes: number;
  readonly remoteAddress: string;
  /** A repeat under the same key, of the same `fingerprint`, does nothing more; null: there is none. */
  readonly idempotencyKey: string | null;
  /** Aborted when the client goes away, or the service stops. */
  readonly signal: AbortSignal;
}

export interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly backlog: number;
  /** Other processes listen there too. */
  readonly reusePort: boolean;
}

export interface ProtocolServer {
  /** Rejects with the error of the system. */
  listen(at: ListenAt): Promise<void>;
  /** From now on nothing new is taken; resolves when what was taken is answered, or after a few seconds. */
  close(): Promise<void>;
}

export interface ProtocolServerOf<State> {
  /** The variable that says its port: `SMTP_PORT`. */
  readonly setting: string;
  /** Null: it does not listen. */
  port(state: State): number | null;
  open(state: State, door: ProtocolDoor): Promise<ProtocolServer>;
}
