// The subset of the HTML DOM that the document engine uses.
import type { StyledDocument } from './css.ts';

export interface Element {
  readonly nodeName: string;
  readonly parentElement: Element | null;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelectorAll(selector: string): Iterable<Element>;
  closest(selector: string): Element | null;
  readonly children: Iterable<Element>;
  remove(): void;
  append(element: Element): void;
  replaceWith(element: Element): void;
  textContent: string | null;
}

export interface Document extends StyledDocument<Element> {
  readonly body: Element;
  readonly title: string;
  createElement(name: string): Element;
}
