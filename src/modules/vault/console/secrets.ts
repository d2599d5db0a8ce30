// Fields of a connection's secret, by its kind. What is secret is typed unseen and no page ever shows it, also not in a form that was refused.
import { choice, type Field, faultAt, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';

interface Part extends Pick<Field, 'label' | 'hint' | 'isSecret'> {
  readonly name: string;
  readonly isOptional?: boolean;
}

const SCOPES: Part = { name: 'scopes', label: 'Scopes', hint: 'Separated by spaces.', isOptional: true };
const TOKEN_URL: Part = { name: 'token_url', label: 'Token URL', hint: 'Where tokens come from, by https.' };
const AUTH = 'auth';

/** What the secret of a kind is made of. Kinds that are not named have a text. */
const partsOfKind: Readonly<Record<string, readonly Part[]>> = {
  basic: [
    { name: 'username', label: 'User' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  sigv4: [
    { name: 'access_key_id', label: 'Access key ID' },
    { name: 'secret_access_key', label: 'Secret access key', isSecret: true },
    { name: 'session_token', label: 'Session token', isSecret: true, isOptional: true },
    { name: 'region', label: 'Region', hint: 'Such as eu-west-1.' },
    { name: 'service', label: 'Service', hint: 'As AWS signs it, such as s3 or execute-api.' },
  ],
  client_credentials: [
    TOKEN_URL,
    { name: 'client_id', label: 'Client ID' },
    { name: 'client_secret', label: 'Client secret', isSecret: true },
    SCOPES,
  ],
  oauth2: [
    { name: 'access_token', label: 'Access token', isSecret: true },
    {
      name: 'refresh_token',
      label: 'Refresh token',
      isSecret: true,
      isOptional: true,
      hint: 'Without one the connection ends with the access token.',
    },
    { name: 'expires_in', label: 'Access token ends in (s)', isOptional: true },
    TOKEN_URL,
    { name: 'client_id', label: 'Client ID' },
    { name: 'client_secret', label: 'Client secret', isSecret: true, isOptional: true },
    SCOPES,
  ],
};

const hasClient = (kind: string) => kind === 'client_credentials' || kind === 'oauth2';
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;

/** `hint`: below the secret; `isNew`: it must be there. */
export function secretFields(
  visit: Visit,
  act: string,
  { kind, hint, isNew }: { readonly kind: string; readonly hint: string; readonly isNew: boolean },
): Html {
  const parts = partsOfKind[kind];
  if (parts === undefined)
    return field(visit, act, { name: 'secret', label: 'Secret', isSecret: true, isRequired: isNew, hint });
  const each = ({ name, isOptional = false, ...of }: Part) =>
    field(visit, act, {
      ...of,
      name: `secret.${name}`,
      isRequired: isNew && !isOptional,
      ...(of.isSecret === true ? {} : { attributes: plain }),
    });
  const auth = choice(visit, act, {
    name: `secret.${AUTH}`,
    label: 'The client shows itself by',
    value: 'post',
    options: [
      ['post', 'fields of the request'],
      ['basic', 'Basic'],
      ['none', 'its ID alone'],
    ],
  });
  return html`<fieldset class="boxes"><legend>Secret</legend><p class="hint">${hint}</p>
${parts.map(each)}${hasClient(kind) ? auth : ''}${faultAt(visit, act, 'secret')}</fieldset>`;
}

/** The secret as vault.connection.set takes it; undefined: nothing was typed. */
export function secretOf(form: URLSearchParams, kind: string): string | Record<string, unknown> | undefined {
  const parts = partsOfKind[kind];
  if (parts === undefined) return textOf(form, 'secret');
  const typed = parts.flatMap(({ name }) => {
    const value = partValue(form, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (typed.length === 0) return undefined;
  const auth = hasClient(kind) ? { [AUTH]: textOf(form, `secret.${AUTH}`) } : {};
  return { ...Object.fromEntries(typed), ...auth };
}

function partValue(form: URLSearchParams, name: string): unknown {
  const field = `secret.${name}`;
  if (name === 'expires_in') return numberOf(form, field);
  const text = textOf(form, field);
  return name === 'scopes' ? text?.split(/[\s,]+/) : text;
}
