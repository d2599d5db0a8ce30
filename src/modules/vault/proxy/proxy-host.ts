// What the proxy asks of the module: which connection a host belongs to, and what becomes of a request. The proxy itself knows sockets, TLS and
// HTTP/1.1.
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Principal } from '../../../core/callers/principal.ts';

export interface ProxyHost<Connection> {
  /**
   * The connection whose hosts name this one most closely, of those that the principal may use. `ambiguous`: two name it alike.
   * Throws the Problem of a refusal, such as INSUFFICIENT_SCOPE for a key that may not call by connections: also where there is none,
   * because the principal may be given a tunnel then.
   * @param host a name in lower case without a final dot, or an address without brackets, as the URL standard writes it
   */
  findConnection(
    principal: Principal,
    host: string,
    port: number,
  ): Promise<{ readonly connection: Connection } | 'none' | 'ambiguous'>;
  /**
   * Sends the request on, and writes the answer into `response`. Resolves when it is written, or its client has left. A Problem that it
   * throws before the head of the answer is answered with its status and `x-qm-code`; after it, the connection ends.
   */
  relay(request: ProxiedRequest<Connection>): Promise<void>;
}

export interface ProxiedRequest<Connection> {
  /** As it was when the connection to the proxy was made: it is to be looked at again. */
  readonly principal: Principal;
  /** As it was then, too. */
  readonly connection: Connection;
  readonly method: string;
  /** False: plain http. */
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** Path and query as they were sent. Begins with `/`. */
  readonly url: string;
  /** As they were sent and in their order, but for those of the connection to the proxy (RFC 9110, section 7.6.1): its key is none of them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Read no faster than it is used. */
  readonly body: Readable;
  /** As announced; null: it comes in chunks. 0: there is none. */
  readonly bodyBytes: number | null;
  readonly response: ServerResponse;
  readonly remoteAddress: string;
  /** Aborted when the client leaves before the answer has ended, or the service stops. */
  readonly signal: AbortSignal;
}
