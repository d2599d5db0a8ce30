/** The service cannot start. The message is one line for the operator: what is wrong, where, and what to do about it. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
