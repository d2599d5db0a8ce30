// The start page of the documentation: a description of the service, a first call, and links to everything else.
import type { Manifest } from '../../../manifest/manifest.ts';
import { shownModules } from '../../../manifest/parts.ts';
import { guideGroups, guides } from '../guides/guides.ts';
import { type Block, code, type DocsPage, h1, h2, prose, type Sample } from './page.ts';

export function startPage(manifest: Manifest, baseUrl: string): DocsPage {
  const blocks: Block[] = [
    h1('Infrastructure for software agents'),
    prose(
      'Queues, storage, vectors, language models, email, SMS, logs, feature flags, DNS and more: one HTTPS and JSON API, one bearer key, one prepaid wallet.',
    ),
    h2('First call'),
    prose(
      'The operator of the service gives you a key. On your own machine it is in `data/operator.key`. All examples read address and key from the environment:',
    ),
    { kind: 'code', language: 'sh', text: `export QM_URL='${baseUrl}'\nexport QM_KEY='qm_live_…'` },
    prose('Look at your balance:'),
    { kind: 'samples', samples: firstCall },
    prose(
      `Examples in TypeScript and Python use the clients of the service, in ${code('clients/typescript')} and ${code('clients/python')} of its repository.`,
    ),
    ...guideGroups.flatMap((group): Block[] => [
      h2(group),
      {
        kind: 'entries',
        rows: guides
          .filter((guide) => guide.group === group)
          .map(({ name, title, summary }) => ({
            name: { text: title, to: `/docs/guides/${name}` },
            facts: [],
            text: summary,
          })),
      },
    ]),
    h2('Modules'),
    {
      kind: 'entries',
      rows: shownModules(manifest).map(({ name, summary, capabilities }) => ({
        name: { text: name, to: `/docs/modules/${name}` },
        facts: [`${capabilities.length} ${capabilities.length === 1 ? 'capability' : 'capabilities'}`],
        text: summary,
      })),
    },
    h2('What holds everywhere'),
    ...rules.map(prose),
    h2('For agents'),
    prose(
      `${code('/llms.txt')} is the whole service on one page, ${code('/llms/{module}.txt')} one module. Each page of this site is markdown at its address with ${code('.md')}. ${code('/mcp')} offers everything as tools.`,
    ),
  ];
  return { title: 'Documentation', blocks };
}

const firstCall: readonly Sample[] = [
  { language: 'bash', text: 'curl -sS "$QM_URL/v1/account/balance" -H "Authorization: Bearer $QM_KEY"' },
  {
    language: 'ts',
    text: [
      "import { createClient } from 'quartermaster-client';",
      '',
      'const qm = createClient();',
      '',
      'console.log(await qm.account.balance());',
    ].join('\n'),
  },
  {
    language: 'python',
    text: 'from quartermaster import Client\n\nqm = Client()\n\nprint(qm.account.balance())',
  },
];

const rules: readonly string[] = [
  'Answers are `{"ok": true, "data": …, "metadata": …}` or `{"ok": false, "error": …, "metadata": …}`. `metadata` has the request id and the cost.',
  'Branch on `error.code`. If `retryable` is true, call again after `retry_after_ms`.',
  'Repeat a write with the same `idempotency_key` until it is answered: it happens once and is charged once.',
  'A call that wallet, budget or key cap does not cover answers 402 `INSUFFICIENT_CREDIT`. It has no effect and costs nothing.',
];
