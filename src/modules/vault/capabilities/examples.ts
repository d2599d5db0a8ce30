// What examples use as a secret of another service.
export const TOKEN = 'example-token-of-another-service';

export const connectionFirst = {
  capability: 'vault.connection.set',
  input: { connection: 'forge', kind: 'bearer', secret: TOKEN, hosts: ['api.github.com'] },
} as const;

export const providerFirst = {
  capability: 'vault.provider.set',
  input: {
    provider: 'forge',
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    client_id: 'Iv1.8a61f9b3a7aba766',
    client_secret: 'example-secret-of-an-oauth-client',
    scopes: ['repo'],
  },
} as const;

/** To a site that answers. */
export const siteFirst = {
  capability: 'vault.connection.set',
  input: { connection: 'docs', kind: 'bearer', secret: TOKEN, hosts: ['docs.example.org'] },
} as const;
