// Port of identity providers. A person is sent to a provider and returns with a code that only this service can exchange for their identity
// (RFC 6749 with PKCE; OpenID Connect). An identity is the pair of issuer and subject; addresses and names do not identify anybody.

/** What only the browser that was sent away may bring back; kept between the two steps, shown to nobody. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface ProvenIdentity {
  /** Who says it; of a server of plain OAuth 2 the address of the answer that names the subject. */
  readonly issuer: string;
  /** 1 to 255 characters. */
  readonly subject: string;
  /** Only one that the provider says it has verified. */
  readonly verifiedEmail: string | null;
  /** As the person calls themselves, at most 100 characters. */
  readonly name: string | null;
}

export interface IdentityProvider {
  /** In addresses. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Where a browser is to be sent. Throws IdentityError. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly checks: SignInChecks }>;
  /**
   * Who came back.
   * @param callback `redirectUri` with the query that the browser brought
   * @throws IdentityError
   */
  finish(callback: URL, checks: SignInChecks): Promise<ProvenIdentity>;
}

/**
 * `declined`: the person, or the provider, did not want to. `unreachable`: the provider cannot be asked now. `invalid`: what came back
 * proves nothing.
 */
export type IdentityFailure = 'declined' | 'unreachable' | 'invalid';

export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly kind: IdentityFailure;

  /** @param message for the operator's log; nothing of it is shown to who signs in */
  constructor(kind: IdentityFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
