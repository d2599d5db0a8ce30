// The terminal command of this installation, for messages that name a command to run.
import { join, sep } from 'node:path';

interface Installation {
  /** The folder of this file: in a bundle that of its source. */
  readonly folder?: string;
  /** Where the process runs. */
  readonly workingFolder?: string;
}

/**
 * The command with all that stands before it: by npx from the npm package, by npm in a checkout, else by the path of bin/qm (a
 * container has no npm).
 */
export function commandLine(
  command: string,
  { folder = join(import.meta.dirname), workingFolder = process.cwd() }: Installation = {},
): string {
  if (folder.split(sep).includes('node_modules')) return `npx quartermaster qm ${command}`;
  const root = join(folder, '../..');
  return workingFolder === root ? `npm run --silent qm -- ${command}` : `${join(root, 'bin/qm')} ${command}`;
}
