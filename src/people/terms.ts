// Settings of sign-in, sign-up and mail to people, as a process uses them.
import type { IdentityProvider } from '../vendors/identity/port.ts';
import type { MailServer } from '../vendors/mail/port.ts';

/** What this room adds to the services of a process. */
export interface PeoplePart {
  /** Sends mail; null: it stands in the outbox. */
  readonly mailServer: MailServer | null;
  /** Who may sign up. */
  readonly signUp: SignUp;
  /** Who may vouch for people who sign in, by id, in the order of the settings. */
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  /** What an account gets at its first sign-in by one of them. */
  readonly signUpCreditNanos: bigint;
}

export interface SignUp {
  /** Whether somebody without an account is given one at the first sign-in. */
  readonly isOpen: boolean;
  /** Domains of addresses that may sign up, in lower case; empty: all. */
  readonly domains: readonly string[];
}
