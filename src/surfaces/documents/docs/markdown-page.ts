// Renders a page as GitHub-flavored markdown: the same blocks as the HTML page, with links to the other markdown pages.
import { fitting, pageTokensMax } from '../llms/sized.ts';
import type { Block, Cell, DocsPage, Entry, PageLink, Sample } from './page.ts';

/** A whole document. `baseUrl` is the root of its links. */
export function renderMarkdown({ blocks, shorter = [] }: DocsPage, baseUrl: string): string {
  const levels = [() => blocks, ...shorter];
  return fitting(levels, pageTokensMax, (blocksOf) => textOf(blocksOf(), baseUrl));
}

function textOf(blocks: readonly Block[], baseUrl: string): string {
  const texts = blocks.map((block) => blockText(block, baseUrl)).filter((text) => text !== '');
  return `${texts.join('\n\n')}\n`;
}

function blockText(block: Block, baseUrl: string): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${plain(block.text)}`;
    case 'up':
      return `In ${linkText(block.link, baseUrl)}`;
    case 'route':
      return `\`${block.text}\``;
    case 'prose':
      return plain(block.text);
    case 'terms':
      return block.rows.map(([term, meaning]) => `- ${term}: ${cellText(meaning, baseUrl)}`).join('\n');
    case 'code':
      return codeText(block);
    case 'samples':
      return block.samples.slice(0, 1).map(codeText).join('\n\n');
    case 'entries':
      return block.rows.map((entry) => entryText(entry, baseUrl)).join('\n');
    case 'links':
      return block.links.map((link) => `- ${linkText(link, baseUrl)}`).join('\n');
    case 'try':
      return '';
    case 'written':
      return block.markdown(baseUrl);
  }
}

function codeText({ language, text }: Sample): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** `- name (facts): text`, on one line. */
function entryText({ name, facts, text }: Entry, baseUrl: string): string {
  const shown = typeof name === 'string' ? `\`${name}\`` : linkText(name, baseUrl);
  const meaning = text === '' ? '' : `: ${plain(text).replace(/\s+/g, ' ')}`;
  const told = facts.length === 0 ? '' : ` (${facts.map(plain).join(', ')})`;
  return `- ${shown}${told}${meaning}`;
}

function cellText(cell: Cell, baseUrl: string): string {
  return typeof cell === 'string' ? plain(cell) : linkText(cell, baseUrl);
}

function linkText({ text, to, isCode = false }: PageLink, baseUrl: string): string {
  const [path, anchor] = to.split('#');
  return `[${isCode ? `\`${text}\`` : plain(text)}](${baseUrl}${path}.md${anchor === undefined ? '' : `#${anchor}`})`;
}

/** Outside code nothing is HTML. */
function plain(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '\\<')))
    .join('`');
}
