// Validation of phone numbers: E.164, and the allowed countries. Senders may also be short codes or names.

import { patternWithWords } from '../../lib/pattern-words.ts';
import { invalidField } from '../../problems/problem.ts';

export interface PhoneNumber {
  /** E.164. */
  readonly number: string;
  /** ISO 3166-1 code; null for numbers of no country. */
  readonly country: string | null;
  /** Country calling code, without `+`. */
  readonly prefix: string;
}

/** Only the one spelling: what a code was sent to is what is compared. */
export const E164_PATTERN = patternWithWords(
  '^\\+[1-9][0-9]{6,14}$',
  'must be + and a number of 7 to 15 digits, such as +4915112345678',
);
/** E.164, a short code, or a name of up to eleven characters. */
export const SENDER_PATTERN = patternWithWords(
  '^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 _.&-]{1,11})$',
  'must be a number such as +4915112345678, a short code of 3 to 8 digits, or a name of up to 11 letters and digits',
);

/** Throws VALIDATION_FAILED for what is no number of a phone, or of a country that the operator does not allow (null: all are). */
export async function requireNumber(
  text: string,
  param: string,
  countries: ReadonlySet<string> | null,
): Promise<PhoneNumber> {
  const { parsePhoneNumberFromString } = await import('libphonenumber-js/min');
  const parsed = parsePhoneNumberFromString(text);
  if (parsed === undefined || parsed.number !== text || !parsed.isPossible()) {
    throw invalidField(param, 'e164', 'It must be a phone number in E.164: +, country code, number; no spaces.');
  }
  const { country = null, countryCallingCode: prefix } = parsed;
  if (countries !== null && (country === null || !countries.has(country))) {
    throw invalidField(param, 'country', `This service sends no SMS to ${country ?? 'numbers of no country'}.`);
  }
  return { number: text, country, prefix };
}
