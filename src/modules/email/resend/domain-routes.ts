// Domain routes of Resend's wire: each request is a call of the equivalent operation on domains.
import type { Static } from 'typebox';
import { json, jsonFields } from '../../../kit/openai-wire.ts';
import { dataOf } from '../../../kit/raw-data.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { type domainSchema, showDomain } from '../domains/resource.ts';
import { domainTable } from '../domains/store.ts';
import { domainOf, recordsOf } from './answers.ts';
import { keyOf } from './calls.ts';

type Domain = Static<typeof domainSchema>;

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

export async function createDomain(request: RawRequest): Promise<RawAnswer> {
  const { name, capabilities } = jsonFields(request.body);
  if (typeof name !== 'string')
    throw invalidField('name', 'required', 'name must be a domain, such as mail.example.org.');
  if (JSON.stringify(capabilities ?? {}).includes('"sending":"disabled"')) {
    throw invalidField('capabilities', 'unsupported', 'A domain always sends here.');
  }
  const domain = await invokeVerify(request, name);
  return json({ ...domainOf(domain), records: recordsOf(domain) }, 201);
}

export async function getDomain(request: RawRequest): Promise<RawAnswer> {
  const domain = await dataOf<Domain>(request.invoke('email.domain.get', { domain: idOf(request) }));
  return json({ object: 'domain', ...domainOf(domain), records: recordsOf(domain) });
}

/** Only of a domain that there is: `create` adds. */
export async function verifyDomain(request: RawRequest): Promise<RawAnswer> {
  const { domain } = await dataOf<Domain>(request.invoke('email.domain.get', { domain: idOf(request) }));
  await invokeVerify(request, domain);
  return json({ object: 'domain', id: domain });
}

/** `after` is the id of a domain: their pages have no cursors. */
export async function listDomains(request: RawRequest): Promise<RawAnswer> {
  const { after, limit } = pageOf(request.query);
  const { data } = await request.perform('email.domain.list', async (ctx) => {
    const rows = await domainTable.list(ctx.core.db, ctx, { after, limit: limit + 1 });
    return { data: { has_more: rows.length > limit, domains: rows.slice(0, limit).map(showDomain) } };
  });
  const { has_more, domains } = data as { has_more: boolean; domains: Domain[] };
  return json({ object: 'list', has_more, data: domains.map(domainOf) });
}

export async function deleteDomain(request: RawRequest): Promise<RawAnswer> {
  const id = idOf(request);
  const { deleted } = await dataOf<{ deleted: boolean }>(
    request.invoke('email.domain.delete', { domain: id }, keyOf(request)),
  );
  if (!deleted) throw problem('NOT_FOUND', { param: 'id', message: 'The domain does not exist.' });
  return json({ object: 'domain', id, deleted });
}

function invokeVerify(request: RawRequest, domain: string): Promise<Domain> {
  return dataOf<Domain>(request.invoke('email.domain.verify', { domain }, keyOf(request)));
}

function idOf({ params }: RawRequest): string {
  return params.id ?? '';
}

function pageOf(query: URLSearchParams) {
  if (query.has('before')) throw invalidField('before', 'unsupported', 'before is not supported here. Send after.');
  const sent = query.get('limit') ?? String(LIMIT_DEFAULT);
  const limit = /^\d{1,3}$/.test(sent) ? Number(sent) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw invalidField('limit', 'range', `limit must be from 1 to ${LIMIT_MAX}.`);
  return { after: query.get('after'), limit };
}
