// Reads short settings files that the operator names.
import { readFileSync, statSync } from 'node:fs';

/** Throws for a file that is not there, or longer than `bytesMax`. */
export function readShortText(path: string, bytesMax: number): string {
  const { size } = statSync(path);
  if (size > bytesMax) throw new Error(`${path} has more than ${bytesMax} bytes`);
  return readFileSync(path, 'utf8');
}
