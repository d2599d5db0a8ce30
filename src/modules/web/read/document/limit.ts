// Removes content beyond the answer's limit from the tree before it is written: writing costs more than all earlier steps.
import { collapseSpace } from './measure.ts';
import { type Element, TEXT_NODE, type TreeNode } from './tree.ts';

/** At least `charactersMax` characters of text stay, in order. Returns whether anything went. */
export function limitText(root: Element, charactersMax: number): boolean {
  let left = charactersMax;
  for (let node = next(root, root); node !== null; node = next(node, root)) {
    if (node.nodeType !== TEXT_NODE) continue;
    const text = node.textContent ?? '';
    if (text.length < left) left -= collapseSpace(text).trim().length;
    else {
      const isCode = node.parentElement?.closest('pre') != null;
      const shown = isCode ? text : collapseSpace(text);
      if (shown.length > left) {
        node.textContent = shown.slice(0, left + 1);
        removeAfter(node, root);
        return true;
      }
      left -= shown.trim().length;
    }
  }
  return false;
}

/** In the order of the page. */
function next(node: TreeNode, root: Element): TreeNode | null {
  const { firstChild } = node as Element;
  if (node.nodeType !== TEXT_NODE && firstChild !== null) return firstChild;
  for (let at: TreeNode | null = node; at !== null && at !== root; at = at.parentElement)
    if (at.nextSibling !== null) return at.nextSibling;
  return null;
}

function removeAfter(node: TreeNode, root: Element): void {
  for (let at: TreeNode | null = node; at !== null && at !== root; at = at.parentElement)
    while (at.nextSibling !== null) at.nextSibling.remove();
}
