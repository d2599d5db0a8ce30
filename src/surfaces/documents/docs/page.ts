// The frame of every documentation page: no script, no external resource, one stylesheet of our own.
import { type Html, html } from '../../../lib/html.ts';

/** Where links of the pages begin: the path of the base URL, so that the pages work behind any host and prefix. */
export function linkRoot(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** A whole page. `root` is the answer of linkRoot. */
export function page(root: string, title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Quartermaster</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/docs/style.css">
</head>
<body>
<header>
<a class="name" href="${root}/docs">Quartermaster</a>
<nav aria-label="Documentation">
<a href="${root}/docs">Capabilities</a>
<a href="${root}/docs/errors">Errors</a>
<a href="${root}/docs/events">Events</a>
<a href="${root}/v1/openapi.json">OpenAPI</a>
<a href="${root}/llms.txt">llms.txt</a>
</nav>
</header>
<main>
${content}
</main>
</body>
</html>
`.text;
}

/** A table that scrolls by itself when the window is narrow. */
export function table(heads: readonly string[], rows: readonly (readonly (Html | string)[])[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${heads.join(', ')}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

/** Paragraphs of a plain text; `code` in backticks becomes code. */
export function prose(text: string): Html[] {
  return text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>\n`);
}

/** One line of plain text with `code` in backticks. */
export function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
