// Nearest names for "did you mean".
import { distance } from 'fastest-levenshtein';

/** Every name is near to less. */
const TARGET_CHARACTERS_MIN = 3;

/**
 * At most `count` candidates that are near, nearest first; none when none is. Near is what differs in a fifth of the characters (two that
 * have changed places are one), what begins with the target, and what is the target below a module (`publish` for `queue.publish`).
 */
export function nearest(target: string, candidates: readonly string[], count: number): string[] {
  const wanted = target.slice(0, 64);
  if (wanted.length < TARGET_CHARACTERS_MIN) return [];
  const distanceMax = Math.max(1, Math.floor(wanted.length / 5));
  const ranked = candidates
    .map((name) => ({
      name,
      far: name.startsWith(wanted) || name.endsWith(`.${wanted}`) ? 0 : typos(wanted, name),
    }))
    .filter(({ far }) => far <= distanceMax);
  ranked.sort((left, right) => left.far - right.far || (left.name < right.name ? -1 : 1));
  return ranked.slice(0, count).map(({ name }) => name);
}

function typos(a: string, b: string): number {
  return isSwapped(a, b) ? 1 : distance(a, b);
}

/** The same but for two neighbours that have changed places. */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at < a.length - 1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
