import Type from 'typebox';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { patternWithWords } from '../../../lib/pattern-words.ts';
import { QUERY_CHARACTERS_MAX, RESULTS_MAX, RESULTS_USUAL } from '../limits.ts';
import { enginesFor, search as searchWith } from '../search/search.ts';
import type { WebState } from '../state.ts';

export const search = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/search',
  summary: 'Searches the web.',
  description:
    'Asks a search engine that the operator has configured, and answers titles, addresses and snippets in the order of the engine. Read a ' +
    'result with POST /v1/web/fetch. Without an engine it answers VENDOR_NOT_AVAILABLE; discovery names those there are.',
  keywords: ['search engine', 'web search', 'google for something', 'find pages', 'serp'],
  input: Type.Object({
    query: Type.String({
      minLength: 1,
      maxLength: QUERY_CHARACTERS_MAX,
      pattern: patternWithWords('^(?=.*\\S)[^\\x00-\\x1f\\x7f]+$', 'must have a word, and no control characters'),
      description: 'Words to search for, in the syntax of the engine.',
    }),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: RESULTS_MAX,
        description: `Most results; ${RESULTS_USUAL} when absent.`,
      }),
    ),
    language: Type.Optional(
      Type.String({
        maxLength: 20,
        pattern: patternWithWords('^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$', 'must be a language tag such as en or pt-BR'),
        description: 'Language tag of the results, such as en or pt-BR; the usual one of the engine when absent.',
      }),
    ),
    vendor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        pattern: '^[a-z0-9-]+$',
        description: 'Pins one engine: the id of its entry, as discovery names it. `sandbox` makes results up.',
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(
      Type.Object({
        title: Type.String({ description: 'Title of the page.' }),
        url: Type.String({ description: 'Address of the page.' }),
        snippet: Type.String({ description: 'What the engine shows of the page, as text.' }),
      }),
      { description: 'In the order of the engine.' },
    ),
    vendor: Type.String({ description: 'The engine that answered: the id of its entry.' }),
  }),
  price: 'web.search',
  isLongRead: true,
  waits: true,
  errors: ['VENDOR_NOT_AVAILABLE', 'VENDOR_DOWN'],
  events: ['wallet.low_balance'],
  limits: { items: `${RESULTS_MAX}.`, time: '10 s an engine.' },
  examples: [
    {
      title: 'In the sandbox, whose results are made up',
      input: { query: 'rotate api keys', count: 1, vendor: 'sandbox' },
      expect: { vendor: 'sandbox', items: [{ title: 'Page 1 about rotate api keys' }] },
    },
  ],
  async run({ ctx, input, state }) {
    const chain = enginesFor(ctx, input.vendor ?? null);
    const { query, count = RESULTS_USUAL, language = null } = input;
    let costNanos = chain.reduce((most, { quoteNanos }) => (quoteNanos > most ? quoteNanos : most), 0n);
    const work = async () => {
      ctx.idle();
      const found = await searchWith(ctx, chain, { query, count, language });
      ({ costNanos } = found);
      return JSON.stringify({ items: found.results, vendor: found.vendor });
    };
    return chargeForAnswer(ctx, state.searching, 1n, work, () => costNanos);
  },
});
