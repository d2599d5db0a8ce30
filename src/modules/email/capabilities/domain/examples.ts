// What examples of domains begin with. The name exists nowhere, so it stays pending.

export const ADDED = { capability: 'email.domain.verify', input: { domain: 'agents.example.org' } };
