// How many descriptors this process may have open. Node raises its soft limit to the hard one at start.
import { readFileSync } from 'node:fs';

/** Of systems that do not say: the least that is usual. */
const USUAL = 4_096;

export function descriptorsMax(): number {
  if (process.platform !== 'linux') return USUAL;
  const soft = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return soft === undefined || soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}
