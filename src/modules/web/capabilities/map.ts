import Type from 'typebox';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { LINKS_MAX, SITEMAPS_READ_MAX } from '../limits.ts';
import { mapSite } from '../map/map-site.ts';
import { urlField } from '../schemas.ts';
import type { WebState } from '../state.ts';

export const map = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/map',
  summary: 'Lists the pages of a site.',
  description:
    'Finds addresses on the host of the URL: first those of its sitemaps, which robots.txt names or which stand at /sitemap.xml, then the ' +
    `links of the page itself. At most ${SITEMAPS_READ_MAX} sitemaps are read, one a second. Nothing else of the site is read: to follow links, crawl it.`,
  keywords: ['sitemap', 'list urls of a site', 'find all pages', 'discover links'],
  input: Type.Object({
    url: urlField('A page of the site'),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LINKS_MAX, description: `Most links; ${LINKS_MAX} when absent.` }),
    ),
  }),
  output: Type.Object({
    links: Type.Array(Type.String(), { description: 'Absolute addresses, each once, without fragments.' }),
  }),
  price: 'web.map',
  isLongRead: true,
  waits: true,
  errors: [
    'TARGET_REJECTED',
    'ROBOTS_DISALLOWED',
    'TARGET_FAILED',
    'RATE_LIMITED',
    'CONCURRENCY_LIMITED',
    'OVERLOADED',
  ],
  events: ['wallet.low_balance'],
  limits: {
    links: '1,000.',
    sitemaps: `${SITEMAPS_READ_MAX} a call, 2 MiB of each, indexes one level deep.`,
    host: 'One request a second.',
  },
  examples: [
    {
      title: 'The pages of a site',
      input: { url: 'https://docs.example.org/keys', limit: 10 },
      expect: {},
    },
  ],
  async run({ ctx, input, state }) {
    const { url, limit: linksMax = LINKS_MAX } = input;
    return chargeForAnswer(ctx, state.mapping, 1n, async () => {
      ctx.idle();
      const links = await mapSite(state, ctx.accountId, { url, linksMax }, ctx.signal, (bytes) =>
        ctx.holdAnswer(bytes),
      );
      ctx.holdMade(2 * links.reduce((sum, link) => sum + link.length, 0));
      return JSON.stringify({ links });
    });
  },
});
