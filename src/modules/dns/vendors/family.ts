// Model family of external name servers: fields of their entries in the operator's file, and the zones that accounts may hold there.
import Type from 'typebox';
import type { Adapter, ModelFamily, ModelRow } from '../../../vendors/file/port.ts';
import { liesIn, readName } from '../records/names.ts';
import { algorithms } from './rfc2136/tsig.ts';

/** What the vendors serve, in discovery and in the limits and the health of vendors. */
export const SERVES = 'dns.zone.create';

const held = {
  zones: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 1_000,
      description: 'zones that accounts may hold here: example.org, or *.example.org for those below it',
    }),
  ),
  accounts: Type.Optional(
    Type.Array(Type.String({ pattern: '^acct_[A-Za-z0-9]{1,40}$', description: 'the id of an account' }), {
      maxItems: 1_000,
      description: 'accounts that may hold them; all when absent',
    }),
  ),
};

const cloudflare: Adapter = {
  name: 'cloudflare',
  baseUrl: 'https://api.cloudflare.com/client/v4',
  modelFields: {},
  modelless: { fields: held, secrets: ['api_key'] },
};

const rfc2136: Adapter = {
  name: 'rfc2136',
  modelFields: {},
  modelless: {
    fields: {
      server: Type.String({
        pattern: '^(\\[[0-9A-Fa-f:.]{2,45}\\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?$',
        description: '`host` or `host:port` of the primary name server; port 53 when absent; IPv6 in brackets',
      }),
      key_name: Type.String({ minLength: 1, maxLength: 254, description: 'name of the TSIG key' }),
      algorithm: Type.Optional(Type.Enum([...algorithms], { description: 'hmac-sha256 when absent' })),
      ...held,
    },
    secrets: ['key_secret'],
    protocols: [],
  },
};

export const dnsFamily: ModelFamily = {
  name: 'dns',
  capabilities: [SERVES],
  traits: Type.Object({}),
  price: Type.Literal('free'),
  timeouts: [],
  sandbox: [],
  serves: () => [SERVES],
  faults: ({ options, vendor }) => [
    ...zonesOf(options).flatMap((zone, at) =>
      readName(zone.replace(/^\*\./, ''))?.includes('.') === true && zone !== '*'
        ? []
        : [{ field: `zones[${at}]`, message: 'It must be a domain name, such as example.org or *.example.org.' }],
    ),
    ...(options.key_name !== undefined && readName(String(options.key_name)) === null
      ? [{ field: 'key_name', message: 'It must be a name, such as quartermaster.example.org.' }]
      : []),
    ...(/^[A-Za-z0-9+/]+={0,2}$/.test(vendor.secrets?.key_secret?.reveal().trim() ?? 'aa')
      ? []
      : [{ field: 'key_secret', message: 'It must be base64, as tsig-keygen writes it.' }]),
  ],
  lowestNanos: () => 0n,
  adapters: () => [cloudflare, rfc2136],
};

/** Whether the operator lets the account hold the zone there. An entry that names no zones lets nobody. */
export function mayHold({ options }: Pick<ModelRow, 'options'>, accountId: string, zone: string): boolean {
  const accounts = options.accounts as readonly string[] | undefined;
  if (accounts !== undefined && !accounts.includes(accountId)) return false;
  return zonesOf(options).some((listed) => {
    const name = readName(listed.replace(/^\*\./, ''));
    if (name === null) return false;
    return listed.startsWith('*.') ? zone !== name && liesIn(zone, name) : zone === name;
  });
}

function zonesOf(options: ModelRow['options']): readonly string[] {
  return (options.zones as readonly string[] | undefined) ?? [];
}
