// What the operator sets for SMS.
import { isSupportedCountry } from 'libphonenumber-js/min';
import { ConfigError, type Variables } from '../../config/variables.ts';

export interface SmsSettings {
  /** ISO codes of the countries that messages go to; null: any. */
  readonly countries: ReadonlySet<string> | null;
}

export function smsSettings(variables: Variables): SmsSettings {
  const text = variables.text('SMS_COUNTRIES');
  if (text === undefined) return { countries: null };
  const countries = text.split(',').map((code) => code.trim().toUpperCase());
  const wrong = countries.find((code) => !isSupportedCountry(code));
  if (wrong !== undefined) {
    throw new ConfigError(
      `SMS_COUNTRIES must list ISO 3166-1 codes such as US,DE; there is no ${JSON.stringify(wrong)}`,
    );
  }
  return { countries: new Set(countries) };
}
