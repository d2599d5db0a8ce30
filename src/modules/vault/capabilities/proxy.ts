import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { caPem } from '../proxy/ca.ts';
import type { VaultState } from '../state.ts';

export const proxy = defineCapability<VaultState>()({
  method: 'GET',
  path: '/v1/vault/proxy',
  summary: 'Shows the proxy for programs, and the certificate it is trusted by.',
  description:
    'A program that heeds HTTPS_PROXY runs unchanged: its requests to hosts of connections get their credentials. `qm run -- COMMAND` sets the ' +
    'variables. The user of the proxy is anything, the password an API key. It ends TLS for hosts of connections that the key may use, the longest name ' +
    'first; two that are alike are 409. /v1/vault/ca.pem is the certificate alone, without a key.',
  keywords: ['https proxy', 'ca certificate', 'run a program with credentials', 'qm run'],
  input: Type.Object({}),
  output: Type.Object({
    proxy_url: textOrNull('Address of the proxy; null: the operator has not opened it (VAULT_PORT).'),
    ca_pem: Type.String({ description: 'Certificate of the CA of this deployment, PEM.' }),
    others: Type.Enum(['refuse', 'tunnel'], { description: 'What becomes of hosts of no connection (VAULT_OTHERS).' }),
  }),
  examples: [{ title: 'Where it is', input: {} }],
  async run({ state: { core, proxy: settings } }) {
    const { hostname } = new URL(core.baseUrl);
    const { port, others } = settings;
    return {
      data: { proxy_url: port === null ? null : `http://${hostname}:${port}`, ca_pem: caPem(core.secrets), others },
    };
  },
});
