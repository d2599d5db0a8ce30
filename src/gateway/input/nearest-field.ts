// Suggests the known field that an unknown name probably meant.
import { nearest } from '../../lib/nearest.ts';

/** Names of a place at which a guess is held. */
const LOOKED_AT_MAX = 200;
/** Of an acronym: two letters stand for too much. */
const ACRONYM_CHARACTERS_MIN = 3;
/** What a guess may leave out at the end, such as `_seconds`: `message` is no guess at `message_group_id`. */
const LEFT_OUT_CHARACTERS_MAX = 8;

/**
 * The known name that is nearest, null when none is: a typo or another way of writing words, a member of an object written with a dot,
 * a name that begins or ends with the guess (`seconds` for `duration_seconds`), or whose words begin with its letters (`dlq`).
 */
export function nearestField(sent: string, known: Iterable<string>): string | null {
  const names = [...known].slice(0, LOOKED_AT_MAX);
  const name = sent.slice(0, 64);
  const [object = '', ...members] = name.split('.');
  if (members.some((member) => member !== '') && names.includes(object)) return `${object}[${members.join('.')}]`;
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[\s.-]+/g, '_')
    .toLowerCase();
  if (names.includes(words)) return words;
  const likely = names.filter(
    (each) => !each.startsWith(words) || each.length <= words.length + LEFT_OUT_CHARACTERS_MAX,
  );
  const [near] = nearest(words, likely, 1);
  return near ?? ofWords(words, names) ?? ofInitials(words, names);
}

function ofWords(words: string, names: readonly string[]): string | null {
  const alike = names.filter((each) => endsAs(each, words) || endsAs(words, each) || words.startsWith(`${each}_`));
  // Of several nobody knows which was meant.
  return alike.length === 1 ? (alike[0] as string) : null;
}

function endsAs(whole: string, last: string): boolean {
  return whole.endsWith(`_${last}`);
}

function ofInitials(words: string, names: readonly string[]): string | null {
  if (words.length < ACRONYM_CHARACTERS_MIN) return null;
  const initials = (each: string) => each.replaceAll(/([a-z\d])[a-z\d]*_?/g, '$1');
  return names.find((each) => initials(each).startsWith(words)) ?? null;
}
