// GET /v1/vault/ca.pem: the certificate that programs trust the proxy by. It is no secret.
import type { RawRoute } from '../../../kit/raw-route.ts';
import type { VaultState } from '../state.ts';
import { caPem } from './ca.ts';

export const caRoute: RawRoute<VaultState> = {
  name: 'vault.ca',
  methods: ['GET'],
  path: '/v1/vault/ca.pem',
  capability: null,
  bodyBytesMax: 1_024,
  answer: async (_, { core }) => ({
    status: 200,
    headers: { 'content-type': 'application/x-pem-file', 'cache-control': 'public, max-age=3600' },
    body: caPem(core.secrets),
  }),
};
