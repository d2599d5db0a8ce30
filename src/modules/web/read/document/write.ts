// Writes content as HTML. Scripts and event handlers never were in the tree; attributes that only style or script a page are removed here.
import type { Element } from './tree.ts';

const KEPT: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'title'],
  img: ['src', 'alt', 'title'],
  time: ['datetime'],
  ol: ['start', 'reversed'],
  code: ['class'],
  td: ['align'],
  th: ['align', 'scope'],
  blockquote: ['cite'],
  q: ['cite'],
  abbr: ['title'],
  bdo: ['dir'],
};
const EVERYWHERE = ['lang', 'dir'];

export function htmlOf(root: Element): string {
  for (const element of root.querySelectorAll('*')) {
    const kept = KEPT[element.localName] ?? [];
    for (const name of [...element.attributes].map((attribute) => attribute.name))
      if (!kept.includes(name) && !EVERYWHERE.includes(name)) element.removeAttribute(name);
  }
  return root.innerHTML.trim();
}
