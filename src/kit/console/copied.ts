// What people take elsewhere (ids, secrets, commands), each with a button that copies it. The buttons show where a browser lets pages copy.
import { type Html, html } from '../../lib/html.ts';

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

function copyButton(label: string): Html {
  return html`<button type="button" class="copy">Copy<span class="unseen"> ${label}</span></button>`;
}
