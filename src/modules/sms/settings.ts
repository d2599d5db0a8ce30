// Operator settings of the sms module.
import { ConfigError, type Variables } from '../../config/variables.ts';

export interface SmsSettings {
  /** ISO codes of the countries that messages go to; null: any. */
  readonly countries: ReadonlySet<string> | null;
}

export function smsSettings(variables: Variables): SmsSettings {
  const text = variables.text('SMS_COUNTRIES');
  if (text === undefined) return { countries: null };
  return { countries: new Set(text.split(',').map((code) => code.trim().toUpperCase())) };
}

/** Throws ConfigError for a country that no number can be of. What knows them is loaded by those alone who name some. */
export async function requireCountries({ countries }: SmsSettings): Promise<void> {
  if (countries === null) return;
  const { isSupportedCountry } = await import('libphonenumber-js/min');
  const wrong = [...countries].find((code) => !isSupportedCountry(code));
  if (wrong !== undefined) {
    throw new ConfigError(
      `SMS_COUNTRIES must list ISO 3166-1 codes such as US,DE; there is no ${JSON.stringify(wrong)}`,
    );
  }
}
