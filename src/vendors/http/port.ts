// The outside world by HTTP: POSTs to addresses that users name. One implementation, guarded against every address that is not
// public (contract §10); webhooks, queue push and cron use nothing else.

export interface OutboundPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt early: the process stops. */
  readonly signal: AbortSignal;
}

/** Why no answer came. `refused` = the address may not be reached (contract §10), and trying again will not help. */
export type OutboundFailure = 'refused' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol' | 'aborted';

export type OutboundOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** As sent by the receiver. */
      readonly retryAfter: string | null;
      /** At most 1 KiB of the answer's text. */
      readonly snippet: string;
      readonly latencyMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly code: OutboundFailure;
      /** One sentence for the owner of the URL; never an address that was refused. */
      readonly message: string;
      readonly latencyMs: number;
    };

export interface OutboundClient {
  /**
   * Checks a URL that a user registers, resolving its host. Answers a warning when the host does not resolve now, else null.
   * Throws WEBHOOK_URL_REJECTED (detail = the rule, param = `param`).
   */
  checkUrl(url: string, param: string): Promise<string | null>;
  /** One attempt: connect within 5 s, all within 15 s, no redirects. Never rejects. */
  post(request: OutboundPost): Promise<OutboundOutcome>;
  /** Closes idle connections. */
  close(): Promise<void>;
}
