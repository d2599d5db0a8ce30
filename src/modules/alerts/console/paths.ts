// Addresses of the pages of alerts, below /console.
export const ALERTS = '/alerts';
export const rulePagePath = (rule: string) => `${ALERTS}/${encodeURIComponent(rule)}`;
