// Set-up call for the examples of domains. The name exists nowhere, so the domain stays pending.

export const ADDED = { capability: 'email.domain.verify', input: { domain: 'agents.example.org' } };
