// Renders guides as pages: their markdown, with links to the pages of this site, as HTML and as markdown. HTML inside a guide is dropped
// from both.
import { readFileSync } from 'node:fs';
import { Marked, type MarkedExtension, type RendererObject, type Token, type Tokens, type TokensList } from 'marked';
import { Html, html } from '../../../lib/html.ts';
import { onceFor } from '../../../lib/once.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { anchorOf, codeHtml, samplesHtml } from '../docs/blocks-html.ts';
import type { DocsPage } from '../docs/page.ts';
import { type Guide, guideFile, guides } from './guides.ts';

/** Path to what makes the page. */
export function guidePages(manifest: Manifest, baseUrl: string): [string, () => DocsPage][] {
  return guides.map((guide) => [`/docs/guides/${guide.name}`, () => guidePage(manifest, guide, baseUrl)]);
}

function guidePage(manifest: Manifest, guide: Guide, baseUrl: string): DocsPage {
  const tokens = tokensAt(guide, baseUrl);
  const markdown = (root: string) => markdownOf(tokens, guide, root);
  return {
    title: guide.title,
    blocks: [{ kind: 'written', html: (root) => htmlOf(tokens, guide, manifest, root), markdown }],
  };
}

/** The guide as it was written; read once. No name of a visitor comes here. */
export const writtenTokens = onceFor((guide: Guide): readonly Token[] => {
  const text = readFileSync(new URL(`../../../../${guideFile(guide)}`, import.meta.url), 'utf8');
  return new Marked().lexer(text);
});

/** Without HTML. */
const guideTokens = onceFor((guide: Guide): readonly Token[] => writtenTokens(guide).flatMap(withoutHtml));

/** Where a service that somebody just started answers. */
const WRITTEN_URL = 'http://127.0.0.1:8787';

/** With the address of this service in what is called; whoever runs one of their own reads what was written. */
function tokensAt(guide: Guide, baseUrl: string): readonly Token[] {
  const tokens = guideTokens(guide);
  if (guide.group === 'Run it') return tokens;
  const text = JSON.stringify(tokens)
    .replaceAll(WRITTEN_URL.replace('//', '//KEY@'), baseUrl.replace('//', '//KEY@'))
    .replaceAll(WRITTEN_URL, baseUrl);
  return JSON.parse(text) as Token[];
}

function withoutHtml(token: Token): Token[] {
  if (token.type === 'html') return [];
  if (token.type !== 'paragraph' || token.tokens === undefined) return [token];
  const tokens = token.tokens.flatMap(withoutHtml);
  return [{ ...token, tokens, raw: token.raw.endsWith('\n') ? `${rawOf(tokens)}\n` : rawOf(tokens) }];
}

function rawOf(tokens: readonly Token[]): string {
  return tokens.map(({ raw }) => raw).join('');
}

const isElsewhere = (href: string) => /^https:\/\//.test(href);

/** Where a link of the guide leads on this site, from its root; null: it leads to a file that is no page. */
function siteAddress(href: string, from: Guide): string | null {
  if (isElsewhere(href)) return null;
  const { pathname, hash } = new URL(href, `file:///${guideFile(from)}`);
  const found = guides.find((guide) => pathname === `/${guideFile(guide)}`);
  if (found !== undefined) return `/docs/guides/${found.name}${hash}`;
  return pathname === '/docs/error-codes.md' ? '/docs/errors' : null;
}

function htmlOf(tokens: readonly Token[], guide: Guide, manifest: Manifest, root: string): Html {
  const grouped = withSamples(tokens) as TokensList;
  grouped.links = {};
  return new Html(new Marked({ renderer: rendererOf(guide, manifest, root) }, samples).parser(grouped));
}

interface SamplesToken extends Tokens.Generic {
  readonly type: 'samples';
  readonly blocks: readonly Tokens.Code[];
}

const samples: MarkedExtension = {
  extensions: [
    {
      name: 'samples',
      renderer: (token) =>
        samplesHtml((token as SamplesToken).blocks.map(({ lang = '', text }) => ({ language: lang, text }))).text,
    },
  ],
};

/** Blocks of code that follow one another in several languages are one, with a tab each. */
function withSamples(tokens: readonly Token[]): Token[] {
  const grouped: Token[] = [];
  let blocks: Tokens.Code[] = [];
  const close = () => {
    if (blocks.length > 1) grouped.push({ type: 'samples', raw: '', blocks } satisfies SamplesToken);
    else grouped.push(...blocks);
    blocks = [];
  };
  for (const token of tokens) {
    if (token.type === 'space' && blocks.length > 0) continue;
    const isSample = token.type === 'code' && ['bash', 'ts', 'python'].includes(token.lang ?? '');
    if (!isSample || blocks.some(({ lang }) => lang === token.lang)) close();
    if (isSample) blocks.push(token as Tokens.Code);
    else grouped.push(token);
  }
  close();
  return grouped;
}

function rendererOf(guide: Guide, manifest: Manifest, root: string): RendererObject {
  return {
    heading({ tokens, depth, text }) {
      const content = new Html(this.parser.parseInline(tokens));
      if (depth === 1) return html`<h1>${content}</h1>\n`.text;
      return depth === 2
        ? html`<h2 id="${anchorOf(text)}">${content}</h2>\n`.text
        : html`<h3 id="${anchorOf(text)}">${content}</h3>\n`.text;
    },
    code: ({ lang, text }) => codeHtml({ language: lang ?? '', text }).text,
    codespan({ text }) {
      const page = pageOf(manifest, text);
      const shown = html`<code>${text}</code>`;
      return (page === null ? shown : html`<a href="${root}${page}">${shown}</a>`).text;
    },
    html: () => '',
    image: ({ text }) => html`${text}`.text,
    link({ href, tokens }) {
      const content = new Html(this.parser.parseInline(tokens));
      const page = href.startsWith('#') ? href : siteAddress(href, guide);
      if (page !== null) return html`<a href="${page.startsWith('#') ? '' : root}${page}">${content}</a>`.text;
      return (isElsewhere(href) ? html`<a href="${href}" rel="noreferrer">${content}</a>` : content).text;
    },
    table({ header, rows }) {
      const content = (cell: Tokens.TableCell) => new Html(this.parser.parseInline(cell.tokens));
      const heads = header.map((cell) =>
        cell.text === '' ? html`<td></td>` : html`<th scope="col">${content(cell)}</th>`,
      );
      const lines = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${content(cell)}</td>`)}</tr>\n`);
      const titles = header.map(({ text }) => text.replaceAll('`', '')).filter((text) => text !== '');
      const head = titles.length === 0 ? html`` : html`<thead><tr>${heads}</tr></thead>\n`;
      const label = titles.length === 0 ? 'Table' : titles.join(', ');
      return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table>\n${head}<tbody>\n${lines}</tbody></table></div>\n`
        .text;
    },
  };
}

/** The page of what a name of the wire stands for; null: it has none. */
function pageOf({ byId, problems, events }: Manifest, name: string): string | null {
  if (byId.has(name)) return `/docs/capabilities/${name}`;
  if (Object.hasOwn(problems, name)) return `/docs/errors/${name}`;
  return events.some(({ type }) => type === name) ? `/docs/events/${name}` : null;
}

function markdownOf(tokens: readonly Token[], guide: Guide, baseUrl: string): string {
  const linked = tokens.map((token) => (token.type === 'code' ? token.raw : withAddresses(token.raw, guide, baseUrl)));
  return linked
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function withAddresses(text: string, guide: Guide, baseUrl: string): string {
  return text.replaceAll(/(?<!!)\[([^\]]*)\]\(([^)\s]*)\)/g, (whole, label: string, href: string) => {
    if (href.startsWith('#') || isElsewhere(href)) return whole;
    const page = siteAddress(href, guide);
    if (page === null) return label;
    const [path, anchor] = page.split('#');
    return `[${label}](${baseUrl}${path}.md${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
