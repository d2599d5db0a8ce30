// The only reader of process.env. All other code takes values from a Config.

/** The environment as the process was given it. */
export function readEnv(): Record<string, string | undefined> {
  return process.env;
}
