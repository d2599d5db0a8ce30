import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull } from '../../../kit/fields.ts';
import { LOOKUP_TOKENS } from '../limits.ts';
import { ask, type Reply } from '../lookup/ask.ts';
import { requireLookupName } from '../lookup/servers.ts';
import { foundSchema, lookupNameField, lookupTypeField, rcodeSchema } from '../schemas.ts';
import type { DnsState } from '../state.ts';

export const propagation = defineCapability<DnsState>()({
  method: 'GET',
  path: '/v1/dns/propagation',
  summary: 'Compares what several resolvers say of a name.',
  description:
    'Asks all resolvers of this deployment at once. `agreed` says that every one answered, and with the same values; with `expected`, that each has this ' +
    'value too. A change is seen everywhere once the ttl of the old record is over.',
  keywords: ['dns propagation', 'has my dns change arrived', 'check dns worldwide'],
  input: Type.Object({
    name: lookupNameField,
    type: lookupTypeField,
    expected: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description: 'A value that each answer must have, as dns.lookup shows it.',
      }),
    ),
  }),
  output: Type.Object({
    agreed: Type.Boolean({ description: 'All resolvers answered the same, with the expected value among it.' }),
    resolvers: Type.Array(
      Type.Object({
        resolver: Type.String({ description: 'Who was asked.' }),
        rcode: rcodeSchema,
        answers: Type.Array(foundSchema, { description: 'The first 100 records of the answer.' }),
        matches: orNull<boolean>({ type: 'boolean' }, 'Whether the expected value is among them; null without one.'),
        latency_ms: Type.Integer({ description: 'How long it took.' }),
      }),
      { description: 'An entry for each resolver.' },
    ),
  }),
  limits: { rate: 'Each resolver counts as a look-up: see dns.lookup.', answer: '2 s.' },
  examples: [{ title: 'An address', input: { name: 'www.example.org', type: 'A', expected: '192.0.2.1' } }],
  async run({ ctx, input, state: { resolvers: asked, lookups } }) {
    const { type = 'A', expected } = input;
    const name = requireLookupName(input.name);
    ctx.weigh(LOOKUP_TOKENS * asked.length - 1);
    const replies = await Promise.all(
      asked.map(async (resolver) => ({
        resolver: resolver.text,
        reply: await lookups.run(ctx.accountId, null, () => ask(resolver, name, type)),
      })),
    );
    const resolvers = replies.map(({ resolver, reply: { rcode, answers, latencyMs } }) => ({
      resolver,
      rcode,
      answers,
      latency_ms: latencyMs,
      matches: expected === undefined ? null : answers.some(({ data }) => data === expected),
    }));
    const isSame = new Set(replies.map(({ reply }) => valuesText(reply))).size === 1;
    const answered = resolvers.every(({ rcode }) => rcode === 'NOERROR' || rcode === 'NXDOMAIN');
    return { data: { agreed: isSame && answered && resolvers.every(({ matches }) => matches !== false), resolvers } };
  },
});

/** Without times to live, which differ, and in no order. */
function valuesText({ rcode, answers }: Reply): string {
  return JSON.stringify([rcode, ...answers.map(({ name, type, data }) => `${name} ${type} ${data}`).sort()]);
}
