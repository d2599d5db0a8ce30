import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { LOOKUP_TOKENS } from '../limits.ts';
import { ask } from '../lookup/ask.ts';
import { requireLookupName, resolverOf } from '../lookup/servers.ts';
import { foundSchema, lookupNameField, lookupTypeField, rcodeSchema } from '../schemas.ts';
import type { DnsState } from '../state.ts';

export const lookup = defineCapability<DnsState>()({
  method: 'GET',
  path: '/v1/dns/lookup',
  summary: 'Looks up DNS records of any domain.',
  description:
    'Asks one resolver now, and shows its answer as it is: a name that does not exist is `rcode` NXDOMAIN, and a resolver that does not answer in 2 s is ' +
    'TIMEOUT, both with 200. `authenticated` is what the resolver says of DNSSEC.',
  keywords: ['dig', 'nslookup', 'resolve a hostname', 'dns lookup', 'find mx records', 'check txt record'],
  input: Type.Object({
    name: lookupNameField,
    type: lookupTypeField,
    resolver: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        pattern: '^[0-9A-Fa-f.:\\[\\]]+$',
        description:
          'Public IP address of a name server, recursive or not, such as 9.9.9.9. One of the operator when not sent.',
      }),
    ),
  }),
  output: Type.Object({
    name: Type.String({ description: 'What was asked for.' }),
    type: Type.String({ description: 'The type that was asked for.' }),
    resolver: Type.String({ description: 'Who was asked.' }),
    rcode: rcodeSchema,
    answers: Type.Array(foundSchema, { description: 'The first 100 records of the answer.' }),
    authenticated: Type.Boolean({ description: 'The resolver has verified the answer by DNSSEC.' }),
    latency_ms: Type.Integer({ description: 'How long it took.' }),
  }),
  limits: { rate: '10 look-ups a second (standard tier), 100 (pro), 1,000 (enterprise).', answer: '2 s.' },
  examples: [
    { title: 'Mail servers of a domain', input: { name: 'example.org', type: 'MX' }, expect: { name: 'example.org' } },
  ],
  async run({ ctx, input, state }) {
    const { type = 'A' } = input;
    const name = requireLookupName(input.name);
    const resolver = resolverOf(input.resolver, state);
    ctx.weigh(LOOKUP_TOKENS - 1);
    const reply = await state.lookups.run(ctx.accountId, null, () => ask(resolver, name, type));
    const { rcode, answers, authenticated, latencyMs: latency_ms } = reply;
    return { data: { name, type, resolver: resolver.text, rcode, answers, authenticated, latency_ms } };
  },
});
