// Nearest names for "did you mean". Levenshtein distance (Levenshtein 1966) by the two-row method of Wagner and Fischer.

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

/** At most `count` candidates, nearest first; one that begins with `target` counts as nearer than any other. */
export function nearest(target: string, candidates: readonly string[], count: number): string[] {
  const wanted = target.slice(0, 64);
  const ranked = candidates.map((name) => ({
    name,
    distance: wanted !== '' && name.startsWith(wanted) ? 0 : editDistance(wanted, name),
  }));
  ranked.sort((left, right) => left.distance - right.distance || (left.name < right.name ? -1 : 1));
  return ranked.slice(0, count).map(({ name }) => name);
}
