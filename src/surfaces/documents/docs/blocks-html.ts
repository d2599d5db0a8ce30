// Renders blocks of a page as HTML.
import { type Html, html } from '../../../lib/html.ts';
import type { Block, Cell, Entry, PageLink } from './page.ts';

const languageNames: Readonly<Record<string, string>> = {
  bash: 'curl',
  sh: 'Shell',
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  yaml: 'YAML',
};

/** `root`: what stands in front of the path of each link. */
export function blockHtml(block: Block, root: string): Html {
  switch (block.kind) {
    case 'heading':
      return headingHtml(block);
    case 'up':
      return html`<p class="quiet">${linkHtml(block.link, root)}</p>`;
    case 'route':
      return html`<p class="route"><code>${block.text}</code></p>`;
    case 'prose':
      return html`${block.text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}`;
    case 'terms':
      return html`<dl class="terms">${block.rows.map(([term, meaning]) => html`<dt>${term}</dt><dd>${cellHtml(meaning, root)}</dd>`)}</dl>`;
    case 'code':
      return codeHtml(block);
    case 'samples':
      return samplesHtml(block.samples);
    case 'entries':
      return html`<dl class="entries">\n${block.rows.map((entry) => html`${entryHtml(entry, root)}\n`)}</dl>`;
    case 'links':
      return html`<ul>\n${block.links.map((link) => html`<li>${linkHtml(link, root)}</li>\n`)}</ul>`;
    case 'try':
      return html`<p><a class="main try" href="${root}${block.path}">${block.text}</a></p>`;
    case 'written':
      return block.html(root);
  }
}

/** Wide code scrolls by itself, also by keyboard. */
export function codeHtml({ language, text }: { readonly language: string; readonly text: string }): Html {
  return html`<pre tabindex="0" aria-label="${languageNames[language] ?? 'Example'}"><code>${text}</code></pre>`;
}

/** One below the other, each with its name; the script makes tabs of them. */
export function samplesHtml(samples: readonly { readonly language: string; readonly text: string }[]): Html {
  const each = samples.map(
    ({ language, text }, i) =>
      html`<div class="sample" data-language="${language}"><p class="language">${languageNames[language] ?? language}</p>${i === 0 ? codeHtml({ language, text }) : alsoHtml({ language, text })}</div>`,
  );
  return html`<div class="samples">${each}</div>`;
}

/** What the twin in markdown leaves out. */
function alsoHtml({ language, text }: { readonly language: string; readonly text: string }): Html {
  return html`<pre tabindex="0" aria-label="${languageNames[language] ?? 'Example'}" data-also><code>${text}</code></pre>`;
}

function headingHtml({ level, text, id }: Extract<Block, { kind: 'heading' }>): Html {
  if (level === 1) return html`<h1>${text}</h1>`;
  if (level === 3) return html`<h3>${text}</h3>`;
  return html`<h2 id="${id ?? anchorOf(text)}">${text}</h2>`;
}

/** The address of a heading within its page, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function entryHtml({ name, facts, text }: Entry, root: string): Html {
  const shown = typeof name === 'string' ? html`<code>${name}</code>` : linkHtml(name, root);
  const meaning = text === '' ? '' : html`<p>${inline(text)}</p>`;
  return html`<dt>${shown}</dt><dd><p class="facts">${facts.map((fact) => html`<span>${inline(fact)}</span> `)}</p>${meaning}</dd>`;
}

function cellHtml(cell: Cell, root: string): Html {
  return typeof cell === 'string' ? html`${inline(cell)}` : linkHtml(cell, root);
}

function linkHtml({ text, to, isCode = false }: PageLink, root: string): Html {
  return html`<a href="${root}${to}">${isCode ? html`<code>${text}</code>` : text}</a>`;
}

/** One line of plain text with `code` in backticks. */
function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
