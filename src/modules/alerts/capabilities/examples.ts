// A rule that examples begin with.
export const ruleFirst = {
  capability: 'alerts.rule.set',
  input: { rule: 'checkout-errors', when: { logs: { service: 'checkout', level: 'error' } }, above: 10 },
};
