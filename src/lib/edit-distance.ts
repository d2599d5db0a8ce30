// Nearest names for "did you mean". Levenshtein distance (Levenshtein 1966) by the two-row method of Wagner and Fischer.

/** Every name is near to less. */
const TARGET_CHARACTERS_MIN = 3;

/** Least number of inserted, deleted or replaced characters that turn `from` into `to`. */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] as number) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[to.length] as number;
}

/**
 * At most `count` candidates that are near, nearest first; none when none is. Near is what differs in a fifth of the characters, what
 * begins with the target, and what is the target below a module (`publish` for `queue.publish`).
 */
export function nearest(target: string, candidates: readonly string[], count: number): string[] {
  const wanted = target.slice(0, 64);
  if (wanted.length < TARGET_CHARACTERS_MIN) return [];
  const distanceMax = Math.max(1, Math.floor(wanted.length / 5));
  const ranked = candidates
    .map((name) => ({
      name,
      distance: name.startsWith(wanted) || name.endsWith(`.${wanted}`) ? 0 : editDistance(wanted, name),
    }))
    .filter(({ distance }) => distance <= distanceMax);
  ranked.sort((left, right) => left.distance - right.distance || (left.name < right.name ? -1 : 1));
  return ranked.slice(0, count).map(({ name }) => name);
}
