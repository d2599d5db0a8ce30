// The foot of a page: the calls that it made, as commands. All that the page shows is in their answers.
import { copiedBlock } from '../../kit/console/copied.ts';
import { type Html, html } from '../../lib/html.ts';
import { curlOf } from '../documents/curl.ts';
import type { PageVisit } from './visit.ts';

export function foot({ made, baseUrl }: PageVisit): Html {
  if (made.length === 0) return html``;
  const commands = made.map(({ capability, input }) => curlOf(capability, input, baseUrl));
  return html`<footer class="calls"><details id="calls"><summary>This page as curl (${commands.length} ${commands.length === 1 ? 'call' : 'calls'})</summary>
${copiedBlock(html`<pre class="scroll" tabindex="0" aria-label="The calls of this page">${[...new Set(commands)].join('\n\n')}</pre>`, 'the calls')}</details></footer>`;
}
