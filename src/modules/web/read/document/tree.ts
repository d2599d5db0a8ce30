// Types for the used part of linkedom's HTML tree. `childNodes` and `children` are rebuilt on each access: walk by siblings instead.
export const ELEMENT_NODE = 1;
export const TEXT_NODE = 3;

export interface TreeNode {
  readonly nodeName: string;
  readonly nodeType: number;
  readonly parentElement: Element | null;
  readonly firstChild: TreeNode | null;
  readonly lastChild: TreeNode | null;
  readonly nextSibling: TreeNode | null;
  readonly previousSibling: TreeNode | null;
  textContent: string | null;
  remove(): void;
}

export interface Element extends TreeNode {
  readonly localName: string;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly firstElementChild: Element | null;
  readonly nextElementSibling: Element | null;
  readonly outerHTML: string;
  innerHTML: string;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  closest(selector: string): Element | null;
  append(...nodes: (TreeNode | string)[]): void;
  appendChild(node: TreeNode): void;
  replaceWith(...nodes: (TreeNode | string)[]): void;
  cloneNode(deep: boolean): Element;
}

export interface Document {
  readonly documentElement: Element;
  readonly body: Element;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  createElement(name: string): Element;
  createTextNode(text: string): TreeNode;
}
