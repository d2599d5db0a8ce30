// Resend's wire below /v1/email/resend, for its clients with RESEND_BASE_URL. A request is a call of the equivalent capability, with its scope,
// rate and price. Other parts of that API are answered as not found.
import { bearer } from '../../../core/credentials/http-schemes.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX } from '../limits.ts';
import { createDomain, deleteDomain, getDomain, listDomains, verifyDomain } from './domain-routes.ts';
import { refuse } from './failures.ts';
import { cancelMail, getMail, sendBatch, sendMail } from './mail-routes.ts';

const ROOT = '/v1/email/resend';
const SHORT_BYTES_MAX = 64 * 1024;

type Method = 'GET' | 'POST' | 'DELETE';

function route(
  method: Method,
  path: string,
  answer: (request: RawRequest) => Promise<RawAnswer>,
  bodyBytesMax = SHORT_BYTES_MAX,
): RawRoute {
  return {
    name: 'email.resend',
    methods: [method],
    path: `${ROOT}${path}`,
    capability: null,
    bodyBytesMax,
    credentialOf: bearer,
    refuse,
    async answer(request) {
      if (request.principal === null) await request.identify(null);
      return answer(request);
    },
  };
}

export const resendRoutes: readonly RawRoute[] = [
  route('POST', '/emails', sendMail, BODY_BYTES_MAX),
  route('POST', '/emails/batch', sendBatch, BATCH_BODY_BYTES_MAX),
  route('GET', '/emails/{id}', getMail),
  route('POST', '/emails/{id}/cancel', cancelMail),
  route('POST', '/domains', createDomain),
  route('GET', '/domains', listDomains),
  route('GET', '/domains/{id}', getDomain),
  route('DELETE', '/domains/{id}', deleteDomain),
  route('POST', '/domains/{id}/verify', verifyDomain),
  {
    name: 'email.resend',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: `${ROOT}/{rest*}`,
    capability: null,
    bodyBytesMax: SHORT_BYTES_MAX,
    credentialOf: bearer,
    refuse,
    answer: () =>
      Promise.reject(problem('CAPABILITY_NOT_FOUND', { message: "This part of Resend's API is not served here." })),
  },
];
