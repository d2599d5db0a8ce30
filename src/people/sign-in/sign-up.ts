// Checks whether an unknown, uninvited person may sign up.

import { problem } from '../../problems/problem.ts';
import type { SignUp } from '../terms.ts';

/** Whether somebody whom nobody knows may have an account; `email`: an address that is surely theirs. Throws SIGNUP_CLOSED. */
export function requireMaySignUp({ isOpen, domains }: SignUp, email: string | null): void {
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase() ?? '';
  if (isOpen && (domains.length === 0 || domains.includes(domain))) return;
  throw problem('SIGNUP_CLOSED');
}
