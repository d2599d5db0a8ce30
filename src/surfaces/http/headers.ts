/** On every answer; pages have a policy of their own. */
export const everywhere = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
