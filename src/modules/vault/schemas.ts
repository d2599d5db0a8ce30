// Schema fields of the vault.
import Type, { type Static } from 'typebox';
import { instant, instantOrNull, orNull, textOrNull, wholeOrNull } from '../../kit/fields.ts';
import { patternWithWords } from '../../lib/pattern-words.ts';
import { kinds } from './connections/credential.ts';
import { statuses } from './connections/row.ts';
import {
  ALLOW_MAX,
  HEADERS_MAX,
  HOST_CHARACTERS_MAX,
  HOSTS_MAX,
  KEYS_MAX,
  PATTERN_CHARACTERS_MAX,
  SECRET_CHARACTERS_MAX,
} from './limits.ts';

const NAME = '^[a-z0-9][a-z0-9_-]*$';
export const connectionField = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: NAME,
  description: 'Name of the connection.',
});

const METHOD = patternWithWords('^(\\*|[A-Z]{1,20})$', 'must be a method in capital letters, or *');
const method = Type.String({ pattern: METHOD, description: 'GET, POST, …; * for any.' });
export const hostsField = Type.Array(Type.String({ minLength: 1, maxLength: HOST_CHARACTERS_MAX }), {
  minItems: 1,
  maxItems: HOSTS_MAX,
  description:
    'Where calls may go: api.github.com, *.example.org (all below it), with a port only where it is not 443.',
});
const allowEntry = Type.Object({
  methods: Type.Array(method, { minItems: 1, maxItems: 20, description: 'Methods.' }),
  path: Type.String({
    minLength: 1,
    maxLength: PATTERN_CHARACTERS_MAX,
    description: 'Decoded path, * for any characters: /repos/*/issues.',
  }),
});
export const allowField = Type.Array(allowEntry, {
  minItems: 1,
  maxItems: ALLOW_MAX,
  description: 'Methods and paths that calls may have; not sent: all.',
});
export const keysField = orNull<string[]>(
  { type: 'array', items: { type: 'string', maxLength: 64 }, minItems: 1, maxItems: KEYS_MAX },
  'Ids of the keys that may use it; null: all with the scope.',
);
export const approveField = Type.Array(method, {
  maxItems: 20,
  description: 'Methods whose calls wait for an approval.',
});
const count = (what: string) => orNull<number>({ type: 'integer', minimum: 1, maximum: 1_000_000 }, what);
export const limitsField = Type.Object(
  {
    per_minute: Type.Optional(count('Calls a minute; null: no limit.')),
    per_day: Type.Optional(count('Calls a day, UTC; null: no limit.')),
  },
  { description: 'How many calls it makes, of all keys together.' },
);
export const notifyField = orNull<{ queue: string }>(
  {
    type: 'object',
    properties: { queue: { type: 'string', minLength: 1, maxLength: 80, description: 'A queue of the account.' } },
    required: ['queue'],
    additionalProperties: false,
  },
  'A queue that is told when the connection breaks; null: none.',
);
const toolNames = (description: string) =>
  orNull<string[]>(
    { type: 'array', items: { type: 'string', minLength: 1, maxLength: 128 }, maxItems: 500 },
    description,
  );
export const mcpField = orNull<{ path?: string; tools?: string[] | null }>(
  {
    ...Type.Object({
      path: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_024,
          default: '/mcp',
          description: 'Where it speaks MCP over HTTP; /mcp when not sent.',
        }),
      ),
      tools: Type.Optional(
        toolNames('Tools that may be called, and nothing by other doors; null: all. Others are not listed.'),
      ),
    }),
  },
  'An MCP server, which {base_url}/mcp/via/{connection} relays; null: none.',
);
export const secretField = Type.Unsafe<string | Record<string, unknown>>({
  anyOf: [
    { type: 'string', minLength: 1, maxLength: SECRET_CHARACTERS_MAX },
    { type: 'object', maxProperties: 10 },
  ],
  writeOnly: true,
  description:
    'A text for bearer, header and query. basic: {username, password}. sigv4: {access_key_id, secret_access_key, session_token, region, service}. ' +
    'client_credentials: {token_url, client_id, client_secret, scopes, auth}. oauth2: {access_token, refresh_token, expires_in, token_url, ' +
    'client_id, client_secret, scopes, auth}. It is never answered.',
});
export const addedHeadersField = Type.Record(Type.String(), Type.String({ maxLength: 4_096 }), {
  maxProperties: HEADERS_MAX,
  writeOnly: true,
  description: 'Headers that are added to each request, as a version of the API.',
});

export const providerField = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: NAME,
  description: 'Name of the provider: lower-case letters, digits, _ and -.',
});
export const authField = Type.Enum(['post', 'basic', 'none'], {
  description:
    'How the client shows itself at the token endpoint: its secret in the form (post) or the header (basic), or none.',
});
export const providerSchema = Type.Object({
  provider: Type.String({ description: 'Name of the provider.' }),
  issuer: textOrNull('Its issuer; null: the addresses were named.'),
  authorization_url: Type.String({ description: 'Where a person is sent.' }),
  token_url: Type.String({ description: 'Where tokens come from.' }),
  client_id: Type.String({ description: 'Of the client at the provider.' }),
  scopes: Type.Array(Type.String(), { description: 'What is asked for.' }),
  auth: authField,
  redirect_uri: Type.String({ description: 'To be registered at the provider: where it sends people back to.' }),
  created_at: instant('When it was made.'),
  updated_at: instant('When it was changed last.'),
});

export const connectionSchema = Type.Object({
  connection: Type.String({ description: 'Name of the connection.' }),
  kind: Type.Enum([...kinds], { description: 'How the credential is shown to the target.' }),
  field: textOrNull('Header or parameter that holds it; null of other kinds.'),
  hosts: Type.Array(Type.String(), { description: 'Where it may be sent.' }),
  allow: orNull<Static<typeof allowField>>(
    { ...Type.Array(allowEntry) },
    'Methods and paths that calls may have; null: all.',
  ),
  keys: orNull<string[]>(
    { type: 'array', items: { type: 'string' } },
    'Keys that may use it; null: all with the scope.',
  ),
  approve: Type.Array(Type.String(), { description: 'Methods whose calls wait for an approval.' }),
  headers: Type.Array(Type.String(), { description: 'Names of the headers that it adds.' }),
  mcp: orNull<{ path: string; tools: string[] | null }>(
    {
      ...Type.Object({
        path: Type.String({ description: 'Where it speaks MCP.' }),
        tools: toolNames('Tools that may be called; null: all.'),
      }),
    },
    'The MCP server that is relayed; null: none.',
  ),
  limits: Type.Object({
    per_minute: wholeOrNull('Calls a minute; null: no limit.'),
    per_day: wholeOrNull('Calls a day, UTC; null: no limit.'),
  }),
  notify: notifyField,
  provider: textOrNull('Where a person connected it; null: a call brought the secret.'),
  status: Type.Enum([...statuses], {
    description: 'pending: nobody has connected it yet; broken: broken_reason says why; expired: expires_at is over.',
  }),
  broken_reason: textOrNull('Why it is broken.'),
  fingerprint: textOrNull('The same for the same secret; nothing can be told from it.'),
  last_used_at: instantOrNull('The last call.'),
  last_used_by: textOrNull('Who made it.'),
  token_ends_at: instantOrNull('When its access token ends; it is refreshed before.'),
  expires_at: instantOrNull('When it can be used no more; null: never.'),
  version: Type.Integer({ minimum: 1, description: 'Grows with each change.' }),
  created_at: instant('When it was made.'),
  updated_at: instant('When it was changed last.'),
});
