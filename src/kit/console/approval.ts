// What people read of a call that waits for approval: in the console, on the page of a mailed link, and in the mail itself.
import { dollars } from '../../lib/money.ts';

type Status = 'pending' | 'approved' | 'denied' | 'expired' | 'used';

/** Between the key and what it calls: "The key agent wants to call queue.delete". */
export const callVerbs: Readonly<Record<Status, string>> = {
  pending: 'wants to call',
  approved: 'may call',
  denied: 'may not call',
  expired: 'wanted to call',
  used: 'was allowed to call',
};

/** How far an approval reaches. */
export const spanChoices = [
  ['once', 'This call, once'],
  ['hour', 'Such calls of this key, for an hour'],
  ['day', 'Such calls of this key, for a day'],
] as const;

export const UP_TO_HINT = 'For an hour or a day: what these calls may cost together.';
export const WORDS_CHARACTERS_MAX = 500;

/** What a call costs at the most. */
export function costText(usd: number): string {
  return usd === 0 ? 'Nothing' : `At most ${dollars(usd)}`;
}

/** Beyond, the indents would be most of it. */
const INDENTED_CHARACTERS_MAX = 512 * 1024;
/** What nobody sees, or what turns the text around it: somebody would approve another text than the one that is sent. */
const UNSEEN = /\p{Cf}|\p{Zl}|\p{Zp}|\p{Variation_Selector}|[\u007f-\u009f]/gu;

/** All of the input, as JSON to be read. Characters that nobody sees are escapeUnseen. Null: it was not kept. */
export function inputText(input: unknown): string {
  if (input === null) return '(not shown: it is not JSON, or too long)';
  const pretty = JSON.stringify(input, null, 2);
  const text = pretty.length > INDENTED_CHARACTERS_MAX ? JSON.stringify(input) : pretty;
  return text.replace(UNSEEN, escapeUnseen);
}

function escapeUnseen(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}
