// `/oauth/authorize`: a program sends a person here for a key (RFC 6749, section 4.1, with PKCE). They sign in, see the request, choose how much
// to grant, and are sent back with a code. A wrong request is reported on a page: nobody is redirected to an unchecked address.

import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import type { Fault } from '../../../people/devices/approve.ts';
import { type AuthorizationAsked, authorizeClient, CHALLENGE } from '../../../people/devices/authorization.ts';
import { readScopes } from '../../../people/devices/codes.ts';
import { offerOf, proposalOf } from '../../../people/devices/offer.ts';
import { Problem } from '../../../problems/problem.ts';
import { foreignFormPage, message } from '../message.ts';
import { readForm, repeatedField } from '../own-form.ts';
import { isFormOf } from '../visitor.ts';
import { type OauthClient, readClient } from './client-metadata.ts';
import { type Approver, clientPage, type DeviceFrame, fillOf, proposedWish, type Wished, wishOf } from './pages.ts';

const STATE_CHARACTERS_MAX = 2_000;

/** The page of who may approve, or where they are sent. */
export async function authorizePage(
  core: Services,
  request: RawRequest,
  visitor: Approver,
  frame: DeviceFrame,
): Promise<RawAnswer> {
  const { query } = request;
  const twice = repeatedField(query);
  if (twice !== null) return refusalPage(frame, `${twice.slice(0, 40)} is given more than once.`);
  const client = await readClient(core, query.get('client_id'), query.get('redirect_uri'), request.signal);
  if (typeof client === 'string') return refusalPage(frame, client);
  const asked = askedOf(core, request, client);
  if (typeof asked === 'string') return refusalPage(frame, asked);
  const offer = offerOf(core.knownScopes, asked.scopes, visitor.principal.scopes);
  const pageWith = (wished: Wished, fault: Fault | null) =>
    clientPage(visitor, frame, { client, redirectHost: hostOf(asked.redirectUri), offer, wished, fault });
  if (request.method !== 'POST')
    return pageWith(proposedWish(proposalOf(core.knownScopes, offer), visitor.principal), null);
  const form = readForm(request.headers, request.body);
  if (!isFormOf(core, request, form, visitor)) return foreignFormPage();
  if (form.get('action') === 'deny') return sentBack(core, request, asked, frame, { error: 'access_denied' });
  const { wished, wish } = wishOf(form);
  const fill = fillOf(form, offer);
  if (fill !== null) return pageWith({ ...wished, scopes: fill }, null);
  if ('field' in wish) return pageWith(wished, wish);
  const answer = await authorizeClient(core, visitor.principal, asked, wish);
  if (typeof answer === 'number') {
    const text = `Too many programs asked from your network: try again in ${Math.ceil(answer / 1_000)} seconds.`;
    return pageWith(wished, { field: null, text });
  }
  return 'code' in answer ? sentBack(core, request, asked, frame, { code: answer.code }) : pageWith(wished, answer);
}

/** What the program asks for; a sentence: what is wrong with it. */
function askedOf(
  core: Services,
  { query, remoteAddress }: RawRequest,
  client: OauthClient,
): AuthorizationAsked | string {
  const challenge = query.get('code_challenge') ?? '';
  if (query.get('response_type') !== 'code') return 'response_type must be code.';
  if (query.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge))
    return 'code_challenge must be there, by the method S256.';
  if ((query.get('state') ?? '').length > STATE_CHARACTERS_MAX)
    return `state may have at most ${STATE_CHARACTERS_MAX} characters.`;
  if (!isOurs(core, query.get('resource'))) return `resource must be ${core.baseUrl}/mcp, or below it.`;
  try {
    const scopes = readScopes(core.knownScopes, query.get('scope'));
    if (scopes === null) return 'scope may have at most 100 parts.';
    const redirectUri = query.get('redirect_uri') as string;
    return { clientId: client.id, clientName: client.name, redirectUri, challenge, scopes, remoteAddress };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'INVALID_SCOPE') throw error;
    return error.message;
  }
}

/** Whether a token is asked for this service (RFC 8707). */
export function isOurs({ baseUrl }: Pick<Services, 'baseUrl'>, resource: string | null): boolean {
  if (resource === null) return true;
  const url = URL.parse(resource)?.href.replace(/\/$/, '');
  return url === baseUrl || url === `${baseUrl}/mcp` || url?.startsWith(`${baseUrl}/mcp/`) === true;
}

/** A page that leads on: browsers follow no redirect of a form to another site where forms may only go to this one. */
function sentBack(
  core: Services,
  { query }: RawRequest,
  { redirectUri }: AuthorizationAsked,
  frame: DeviceFrame,
  answer: Record<string, string>,
): RawAnswer {
  const url = new URL(redirectUri);
  const state = query.get('state');
  const fields = { ...answer, ...(state === null ? {} : { state }), iss: core.baseUrl };
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  const text = html`<p role="status">You are sent back to the program.</p>
<p><a class="main" href="${url.href}">Go back</a></p>`;
  return message(200, 'Answer sent', text, {
    ...frame,
    headers: { refresh: `0;url=${url.href}` },
  });
}

/** What stands for a host in the address of a program is the program's own choice. */
function hostOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

function refusalPage(frame: DeviceFrame, text: string): RawAnswer {
  return message(400, 'This program cannot be given a key', html`<p class="failure" role="alert">${text}</p>`, frame);
}
