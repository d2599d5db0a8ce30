// A page of HTML: its main content, and what it says of itself.
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import type { ReadPage, ReadTask } from '../wire.ts';

export function readHtml(html: string, task: ReadTask): Omit<ReadPage, 'kind' | 'truncated'> {
  const { document } = parseHTML(html);
  const links = task.links ? [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href') ?? '') : [];
  const article = new Readability(document as never).parse();
  const content = new TurndownService().turndown(article?.content || document.body.innerHTML);
  const { title = null, byline = null, lang = null, excerpt = null } = article ?? {};
  return { title, byline, language: lang, description: excerpt, content, links };
}
