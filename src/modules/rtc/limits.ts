// Limits and constants of the rtc module.

export const TOKEN = 'rtc.token';
export const TTL_SECONDS = { min: 60, max: 86_400, usual: 21_600 } as const;
/** Of a list of addresses in the settings. */
export const TURN_URLS_MAX = 10;
