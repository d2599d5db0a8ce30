// PowerDNS' HTTP API below /v1/dns/powerdns/api, as its clients use it to set records: ACME clients, external-dns. The key is in X-API-Key. A
// request is a call of the equivalent capability, with its scope and rate. Other parts of that API are answered as not found.

import type { Credential } from '../../../core/credentials/credential.ts';
import { apiKeyHeader, bearer } from '../../../core/credentials/http-schemes.ts';
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import { zoneKey } from '../records/names.ts';
import { readZone } from '../records/read.ts';
import type { DnsState } from '../state.ts';
import { requireZone, zones } from '../zones/resource.ts';
import { patchSets, readChanges } from './patch.ts';
import { serverRecord, zoneRecord, zoneSummary } from './records.ts';

const ROOT = '/v1/dns/powerdns/api';
const SERVER = '/v1/servers/localhost';
const BODY_BYTES_MAX = 64 * 1024;
const ZONES_MAX = 5_000;

type Method = 'GET' | 'PATCH' | 'PUT';
type Made = (ctx: CallContext, request: RawRequest, state: DnsState) => Promise<unknown>;

/** `made` answers what is shown; null: nothing. */
function route(method: Method, path: string, capability: string, made: Made): RawRoute<DnsState> {
  return {
    name: 'dns.powerdns',
    methods: [method],
    path: `${ROOT}${path}`,
    capability: null,
    bodyBytesMax: BODY_BYTES_MAX,
    credentialOf,
    refuse,
    async answer(request, state) {
      if (request.principal === null) await request.identify(null);
      const answer = await request.perform(capability, async (ctx) => ({ data: await made(ctx, request, state) }));
      return answer.data === null ? { status: 204, headers: {}, body: '' } : json(answer.data as object);
    },
  };
}

const showZone: Made = async (ctx, { params: { zone = '' }, query }, state) => {
  const row = await requireZone(ctx.core.db, ctx, zone);
  if (query.get('rrsets') === 'false') return zoneSummary(row);
  ctx.requireAnswerRoom();
  const { sets, nameServers } = await readZone(ctx, state, row);
  return zoneRecord(row, sets, nameServers);
};

const listZones: Made = async (ctx, { query }, state) => {
  const named = query.get('zone');
  const found = named === null ? null : await zones.find(ctx.core.db, ctx, zoneKey(named));
  if (named !== null) return found === null ? [] : [zoneSummary(found)];
  return (await zones.list(ctx.core.db, ctx, { after: null, limit: ZONES_MAX }, state)).map(zoneSummary);
};

export const powerdnsRoutes: readonly RawRoute<DnsState>[] = [
  route('GET', '', 'dns.zone.list', async () => [{ url: '/api/v1', version: 1 }]),
  route('GET', '/v1', 'dns.zone.list', async () => ({ server_url: '/api/v1/servers{/server}', version: 1 })),
  route('GET', '/v1/servers', 'dns.zone.list', async () => [serverRecord]),
  route('GET', SERVER, 'dns.zone.list', async () => serverRecord),
  route('GET', `${SERVER}/zones`, 'dns.zone.list', listZones),
  route('GET', `${SERVER}/zones/{zone}`, 'dns.record.list', showZone),
  route('PATCH', `${SERVER}/zones/{zone}`, 'dns.record.set', async (ctx, request, state) => {
    await patchSets(ctx, state, request.params.zone ?? '', await request.read(readChanges, request.body));
    return null;
  }),
  // Name servers of this service see a change without being told.
  route('PUT', `${SERVER}/zones/{zone}/notify`, 'dns.record.list', async (ctx, { params: { zone = '' } }) => {
    await requireZone(ctx.core.db, ctx, zone);
    return { result: 'Notification queued' };
  }),
  {
    name: 'dns.powerdns',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: `${ROOT}/{rest*}`,
    capability: null,
    bodyBytesMax: BODY_BYTES_MAX,
    credentialOf,
    refuse,
    answer: () =>
      Promise.reject(problem('CAPABILITY_NOT_FOUND', { message: "This part of PowerDNS' API is not served here." })),
  },
];

function credentialOf(head: RawHead): Credential | null {
  return apiKeyHeader(head) ?? bearer(head);
}

/** As PowerDNS says it, with our code. */
function refuse({ httpStatus, code, message, retryAfterMs }: Problem, { requestId }: RawHead): RawAnswer {
  const wait: Record<string, string> =
    retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  return {
    status: code === 'VALIDATION_FAILED' ? 422 : httpStatus,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...wait },
    body: JSON.stringify({ error: message, code, request_id: requestId }),
  };
}
