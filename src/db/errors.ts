// Classification of database errors: PostgreSQL's SQLSTATE, or a failed connection. Also StartupError, for failures to start.

// Every SQLSTATE in use has a digit; EPIPE has the same five places.
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;
const DRIVER_LOST =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Client has encountered/;

/** SQLSTATE of a PostgreSQL error, else undefined. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && SQLSTATE.test(code) ? code : undefined;
}

/** True when the connection itself failed: classes 08 and 57P, an error of the socket, or the driver's word for it. */
export function isConnectionError(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith('08') || state.startsWith('57P') || state === '53300';
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return true;
  return error instanceof Error && DRIVER_LOST.test(error.message);
}

/** The service cannot start. The message is one line for the operator: what is wrong, where, and what to do about it. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
