// Who may become somebody here without being asked.
export interface SignUp {
  /** Whether somebody without an account is given one at the first sign-in. */
  readonly isOpen: boolean;
  /** Domains of addresses that may sign up, in lower case; empty: all. */
  readonly domains: readonly string[];
}
