// IDENTITY_PROVIDERS: the identity providers for sign-in, as JSON or the path of a JSON file. Errors name the field.
import { isLoopback } from '../lib/loopback.ts';
import { readShortText } from './short-text.ts';
import { ConfigError, type Variables } from './variables.ts';

interface Registration {
  /** In the addresses of start and callback. */
  readonly id: string;
  /** On the button. */
  readonly name: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
}

export interface OidcSettings extends Registration {
  readonly type: 'oidc';
  readonly issuer: string;
}

export interface OAuth2Settings extends Registration {
  readonly type: 'oauth2';
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userinfoUrl: string;
  /** Where a list of addresses stands, as GitHub has it; null: the address is in the answer of `userinfoUrl`. */
  readonly emailsUrl: string | null;
  readonly subjectField: string;
  readonly emailField: string;
  readonly emailVerifiedField: string;
}

export type IdentityProviderSettings = OidcSettings | OAuth2Settings;

const NAME = 'IDENTITY_PROVIDERS';
const FILE_BYTES_MAX = 64 * 1024;
const PROVIDERS_MAX = 20;
const TEXT_CHARACTERS_MAX = 2_048;
const SHARED = ['id', 'type', 'name', 'client_id', 'client_secret', 'scopes'];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  oidc: ['issuer'],
  github: ['authorization_url', 'token_url', 'userinfo_url', 'emails_url'],
  oauth2: ['authorization_url', 'token_url', 'userinfo_url', 'subject_field', 'email_field', 'email_verified_field'],
};
const GITHUB = {
  authorization_url: 'https://github.com/login/oauth/authorize',
  token_url: 'https://github.com/login/oauth/access_token',
  userinfo_url: 'https://api.github.com/user',
};

/** Throws ConfigError. */
export function identityProviders(variables: Variables): readonly IdentityProviderSettings[] {
  const value = variables.text(NAME);
  if (value === undefined) return [];
  const list = listOf(value.startsWith('[') ? value : fileText(value));
  const providers = list.map((entry, i) => providerOf(new Entry(entry, `${NAME}[${i}]`, variables)));
  const twice = providers.find(({ id }, i) => providers.findIndex((other) => other.id === id) < i);
  if (twice !== undefined) throw new ConfigError(`${NAME} has two providers with the id ${twice.id}`);
  return Object.freeze(providers);
}

function fileText(path: string): string {
  try {
    return readShortText(path, FILE_BYTES_MAX);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${NAME} is neither a JSON list nor a file that can be read: ${reason}`);
  }
}

// What the parser says quotes the text, and secrets stand in it.
function listOf(text: string): readonly unknown[] {
  const form = `${NAME} must be a JSON list of at most ${PROVIDERS_MAX} providers, or the path of a file with one`;
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.length <= PROVIDERS_MAX) return list;
  } catch {
    throw new ConfigError(`${form}; its JSON cannot be read`);
  }
  throw new ConfigError(form);
}

function providerOf(entry: Entry): IdentityProviderSettings {
  const type = entry.text('type');
  const fields = Object.hasOwn(FIELDS, type) ? FIELDS[type] : undefined;
  if (fields === undefined) entry.fail('type', 'must be oidc, github or oauth2');
  entry.requireNothingBut([...SHARED, ...(fields ?? [])]);
  const id = entry.text('id');
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(id))
    entry.fail('id', 'must have 1 to 32 lower case letters, digits, - and _, and begin with a letter or digit');
  const registration = {
    id,
    name: entry.text('name', type === 'github' ? 'GitHub' : id),
    clientId: entry.text('client_id'),
    clientSecret: entry.secret('client_secret'),
  };
  if (type === 'oidc')
    return { ...registration, type, scopes: entry.scopes(['openid', 'email', 'profile']), issuer: entry.url('issuer') };
  return { ...registration, type: 'oauth2', ...(type === 'github' ? githubOf(entry) : oauth2Of(entry)) };
}

/** The addresses may be those of a GitHub Enterprise Server. */
function githubOf(entry: Entry): Omit<OAuth2Settings, keyof Registration | 'type'> & Pick<OAuth2Settings, 'scopes'> {
  const userinfoUrl = entry.url('userinfo_url', GITHUB.userinfo_url);
  return {
    scopes: entry.scopes(['read:user', 'user:email']),
    authorizationUrl: entry.url('authorization_url', GITHUB.authorization_url),
    tokenUrl: entry.url('token_url', GITHUB.token_url),
    userinfoUrl,
    emailsUrl: entry.url('emails_url', `${userinfoUrl}/emails`),
    subjectField: 'id',
    emailField: 'email',
    emailVerifiedField: 'email_verified',
  };
}

function oauth2Of(entry: Entry): ReturnType<typeof githubOf> {
  return {
    scopes: entry.scopes([]),
    authorizationUrl: entry.url('authorization_url'),
    tokenUrl: entry.url('token_url'),
    userinfoUrl: entry.url('userinfo_url'),
    emailsUrl: null,
    subjectField: entry.text('subject_field', 'sub'),
    emailField: entry.text('email_field', 'email'),
    emailVerifiedField: entry.text('email_verified_field', 'email_verified'),
  };
}

/** One provider of the list. Values are never repeated in what is said of them: a secret may stand where it does not belong. */
class Entry {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #place: string;
  readonly #variables: Variables;

  constructor(fields: unknown, place: string, variables: Variables) {
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
      throw new ConfigError(`${place} must be an object`);
    this.#fields = { ...fields };
    this.#place = place;
    this.#variables = variables;
  }

  fail(field: string, must: string): never {
    throw new ConfigError(`${this.#place}.${field} ${must}`);
  }

  requireNothingBut(known: readonly string[]): void {
    const unknown = Object.keys(this.#fields).find((field) => !known.includes(field));
    if (unknown === undefined) return;
    throw new ConfigError(
      `${this.#place} has an unknown field ${JSON.stringify(unknown.slice(0, 40))}; it may have ${known.join(', ')}`,
    );
  }

  text(field: string, fallback?: string): string {
    const value = this.#fields[field] ?? fallback;
    if (value === undefined) return this.fail(field, 'is missing');
    // Control characters and lone surrogates would come back in headers and pages.
    if (typeof value === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(value) && value.length <= TEXT_CHARACTERS_MAX)
      return value;
    return this.fail(field, `must be a text of 1 to ${TEXT_CHARACTERS_MAX} characters without control characters`);
  }

  /** `${NAME}` is the variable of that name; null when the field is not there. */
  secret(field: string): string | null {
    if (this.#fields[field] === undefined || this.#fields[field] === null) return null;
    const value = this.text(field);
    const [, name] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value) ?? [];
    if (name === undefined) return value;
    return this.#variables.text(name) ?? this.fail(field, `names the variable ${name}, which is not set`);
  }

  /** https; http on this machine only. */
  url(field: string, fallback?: string): string {
    const value = this.text(field, fallback);
    const url = URL.parse(value);
    const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
    if (isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return value;
    return this.fail(field, 'must be an https URL without user and fragment; http is for loopback addresses only');
  }

  scopes(fallback: readonly string[]): readonly string[] {
    const value = this.#fields.scopes ?? fallback;
    // RFC 6749, section 3.3: scope-token.
    const isScope = (scope: unknown) => typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/.test(scope);
    if (Array.isArray(value) && value.length <= 50 && value.every(isScope)) return value;
    return this.fail('scopes', 'must be a list of at most 50 scopes');
  }
}
