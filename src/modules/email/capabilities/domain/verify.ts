import Type from 'typebox';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import { requireDomain } from '../../domains/name.ts';
import { type DomainsState, domainField, domainSchema, showDomain } from '../../domains/resource.ts';
import { domainLimits, domainTable } from '../../domains/store.ts';

export const verify = defineCapability<DomainsState>()({
  method: 'POST',
  path: '/v1/email/domain/verify',
  summary: 'Adds a sending domain, or checks its DNS records now.',
  description:
    'The first call adds the domain and answers the DNS records to create. Create them where the domain is managed, then call again: the ' +
    'records are looked up within 8 s, and the domain is `verified` once every required one is there. Without another call it is checked every ' +
    '10 minutes for three days, then daily. Three days without the DKIM record: `failed`; calling again starts over. A verified domain that ' +
    'loses a record stays verified for three days. Two accounts can verify the same domain: each has its own DKIM selector.',
  keywords: ['verify sending domain', 'dkim record', 'spf dkim dmarc setup', 'add a domain'],
  input: Type.Object({ domain: domainField }),
  output: domainSchema,
  errors: ['QUOTA_EXCEEDED'],
  limits: { domains: '100 domains an account (standard tier), 1,000 (pro), 10,000 (enterprise).' },
  examples: [
    {
      title: 'Add a domain',
      input: { domain: 'agents.example.org' },
      expect: { domain: 'agents.example.org', status: 'pending' },
    },
  ],
  async run({ ctx, input, state }) {
    const { accountId, core } = ctx;
    const domain = await requireDomain(input.domain);
    return runOutside(ctx, async (enter) => {
      const look = await state.domains.look(accountId, domain);
      if (look.isUnanswered) {
        ctx.warnings.push(
          'Some name servers did not answer: what they were asked for counts as missing until they do.',
        );
      }
      return core.db.transaction(async (tx) => {
        const { nowMs } = await enter(tx);
        if ((await domainTable.find(tx, ctx, domain)) === null) {
          await requireRoom(tx, ctx, 'domain', domainLimits.email_domains);
        }
        return showDomain(await state.domains.keep(tx, accountId, domain, look, nowMs));
      });
    });
  },
});
