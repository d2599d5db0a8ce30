// What the pdf module keeps in one process.

import type { PdfSettings } from './settings.ts';
import type { Engines } from './work/engines.ts';

export interface PdfState {
  readonly engines: Engines;
  readonly settings: PdfSettings;
}
