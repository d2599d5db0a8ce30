// The documentation of error codes: the list, and a page for each.
import type { Manifest } from '../../../manifest/manifest.ts';
import type { ProblemEntry } from '../../../problems/catalogue.ts';
import { type Block, type DocsPage, h1, h2, prose } from './page.ts';

/** Path to what makes the page. */
export function errorDocs(manifest: Manifest): [string, () => DocsPage][] {
  return [
    ['/docs/errors', () => errorsPage(manifest)],
    ...Object.entries(manifest.problems).map(([failure, entry]): [string, () => DocsPage] => [
      `/docs/errors/${failure}`,
      () => errorPage(manifest, failure, entry),
    ]),
  ];
}

function errorsPage({ problems }: Manifest): DocsPage {
  const rows = Object.entries(problems).map(([failure, { status, retryable, title }]) => ({
    name: { text: failure, to: `/docs/errors/${failure}`, isCode: true },
    facts: [String(status), ...(retryable ? ['a retry may succeed'] : [])],
    text: title,
  }));
  const intro =
    'A failed call answers `{ "ok": false, "error": {…}, "metadata": {…} }`. Branch on `error.code`; codes are never renamed. `error.param` names the field at fault, `error.request_id` identifies the call.';
  return { title: 'Error codes', blocks: [h1('Error codes'), prose(intro), { kind: 'entries', rows }] };
}

function errorPage(manifest: Manifest, failure: string, entry: ProblemEntry): DocsPage {
  const links = manifest.capabilities
    .filter((capability) => capability.errors.includes(failure))
    .map(({ id }) => ({ text: id, to: `/docs/capabilities/${id}`, isCode: true }));
  const retry = entry.retryable
    ? 'May succeed later; wait for Retry-After or retry_after_ms when sent.'
    : 'The same call will fail again.';
  const rows = [
    ['HTTP status', String(entry.status)],
    ['Retry', retry],
  ] as const;
  const blocks: Block[] = [
    { kind: 'up', link: { text: 'Error codes', to: '/docs/errors' } },
    h1(failure),
    prose(entry.title),
    { kind: 'terms', rows },
    h2('What to do'),
    prose(entry.advice),
    ...(links.length === 0 ? [] : [h2('Where it occurs'), { kind: 'links', links } satisfies Block]),
  ];
  return { title: failure, blocks };
}
