// File descriptor limit of this process, and the connections it allows. Node raises its soft limit to the hard one at start.
import { readFileSync } from 'node:fs';
import type { Admission } from '../../core/admission.ts';

/** Of systems that do not say: the least that is usual. */
const USUAL = 4_096;

/** Connections that they are enough for. */
export function connectionsMaxOf({ connectionsMax, descriptorsReserved }: Admission['all']): number {
  const descriptors = descriptorsMax();
  return Math.min(connectionsMax, Math.max(descriptors - descriptorsReserved, Math.floor(descriptors / 2)));
}

function descriptorsMax(): number {
  if (process.platform !== 'linux') return USUAL;
  const soft = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return soft === undefined || soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}
