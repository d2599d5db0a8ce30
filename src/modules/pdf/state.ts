// State of the pdf module in one process.
import type { Engines } from './operations/engines.ts';
import type { PdfSettings } from './settings.ts';

export interface PdfState {
  readonly engines: Engines;
  readonly settings: PdfSettings & { readonly hasBrowser: boolean };
}
