// Values to copy (ids, secrets, commands), each with a copy button. The buttons appear only where the browser lets pages write to the clipboard.
import { type Html, html } from '../../lib/html.ts';
import type { CodeSample } from './visit.ts';

const languages: Readonly<Record<string, string>> = { bash: 'curl', ts: 'TypeScript', python: 'Python', html: 'HTML' };

/** An id on one line. `label`: what the button says that it copies, for those who hear it. */
export function copiedId(id: string, label = 'the ID'): Html {
  return html`<span class="copied"><code>${id}</code>${copyButton(label)}</span>`;
}

/** A secret, shown once. */
export function copiedSecret(secret: string, label = 'Secret'): Html {
  return copiedBlock(html`<pre class="secret" tabindex="0" aria-label="${label}">${secret}</pre>`, 'the secret');
}

/** Commands, or a payload; `pre`: as it is without its button. */
export function copiedBlock(pre: Html, label: string): Html {
  return html`<div class="copied">${pre}${copyButton(label)}</div>`;
}

/**
 * The same calls in several languages, a tab each, as `visit.samples` makes them. The tabs are choices that the style alone shows, so no
 * script is needed. `id`: of the block, within the page.
 */
export function codeBlock(id: string, samples: readonly CodeSample[]): Html {
  const tab = ({ language }: CodeSample, i: number) =>
    html`<input type="radio" class="unseen" name="${id}" id="${id}-${language}"${i === 0 ? html` checked` : ''}><label for="${id}-${language}">${languages[language] ?? language}</label>`;
  const panel = ({ language, text }: CodeSample) =>
    copiedBlock(
      html`<pre class="text" tabindex="0" aria-label="${languages[language] ?? language}">${text}</pre>`,
      'the code',
    );
  return html`<div class="code">${samples.map(tab)}${samples.map(panel)}</div>`;
}

function copyButton(label: string): Html {
  return html`<button type="button" class="copy">Copy<span class="unseen"> ${label}</span></button>`;
}
