// Credentials of a request: a secret, a signature or a session cookie. Each stands for exactly one principal.
import type { IncomingHttpHeaders } from 'node:http';
import type { NoPrincipal, Principal } from '../callers/principal.ts';
import type { Core } from '../core.ts';

/** What a credential is read from. */
export interface CredentialHead {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Credential {
  /** Whom it stands for now, or why for nobody. Never throws for what a client may send. */
  find(core: Core): Promise<Principal | NoPrincipal>;
  /** Once it was found right: what it says of the body that comes with it. Throws INVALID_REQUEST for what is not served. */
  bodyProof?(): BodyProof | null;
}

/** A credential that only its whole body completes: it signs the hash of the body, and does not tell it. */
export interface BodyCredential {
  /** Whom it names, before anything of the body is there: a name is no proof. Or why it stands for nobody, whatever the body is. */
  identifyKey(core: Core): Promise<Named | NoPrincipal>;
  /** Takes the next part of the body. */
  update(block: Uint8Array): void;
  /** Of all that was taken. */
  complete(): Credential;
}

export interface Named {
  readonly keyId: string;
  /** Null: its key has ended. */
  readonly principal: Principal | null;
}

/** What a credential says of a body. */
export interface BodyProof {
  /** Its length, where it is sent in chunks of the protocol; null: as Content-Length says. */
  readonly bytes: number | null;
  /** The body without such chunks. Fails, at its end at the latest, where it is not what was signed. */
  read(sent: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** An API key's secret, wherever the protocol has its place for one. */
export function secretCredential(secret: string): Credential {
  return { find: ({ keys }) => keys.find(secret) };
}
