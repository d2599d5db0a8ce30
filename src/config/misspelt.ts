// Finds environment variables that are probably misspelt names of the service's own.
import { distance } from 'fastest-levenshtein';

export interface Misspelt {
  readonly name: string;
  /** The variable that was probably meant. */
  readonly meant: string;
}

/** Short names are near to common words: POST to PORT, HOME to HOST. */
const OTHER_LETTER_FROM_CHARACTERS = 5;
const TWO_MISTAKES_FROM_CHARACTERS = 8;

/** @param known every variable that is read; @param given names of the environment. */
export function findMisspelt(given: readonly string[], known: ReadonlySet<string>): Misspelt[] {
  return given.flatMap((name) => {
    if (known.has(name)) return [];
    const meant = [...known].find((candidate) => isNear(name.toUpperCase(), candidate));
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function isNear(name: string, candidate: string): boolean {
  if (name[0] !== candidate[0]) return false;
  const far = distance(name, candidate);
  if (far <= 1) return name.length !== candidate.length || candidate.length >= OTHER_LETTER_FROM_CHARACTERS;
  return far === 2 && (candidate.length >= TWO_MISTAKES_FROM_CHARACTERS || isSwapped(name, candidate));
}

/** Two letters that changed places, as in PROT. */
function isSwapped(name: string, candidate: string): boolean {
  return [...name].sort().join('') === [...candidate].sort().join('');
}
