// Set-up call for the examples of sent mail.
export const sentBefore = {
  capability: 'email.send',
  input: { from: 'news@example.com', to: 'ada@example.org', subject: 'News', text: 'Hello.' },
};
