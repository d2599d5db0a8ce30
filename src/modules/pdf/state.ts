// What the pdf module keeps in one process.
import type { Core } from '../../core/context.ts';
import type { Engines } from './operations/engines.ts';
import type { PdfSettings } from './settings.ts';

export interface PdfState {
  readonly engines: Engines;
  readonly settings: PdfSettings & Pick<Core, 'chromiumPath'>;
}
