// Environment variables of the pdf module.
import type { Variables } from '../../config/variables.ts';
import { THREADS } from './limits.ts';

export function pdfSettings(variables: Variables) {
  return {
    /** A folder of further fonts, .ttf and .otf; null: Roboto alone. */
    fontsFolder: variables.text('PDF_FONTS_DIR') ?? null,
    /** PDFs that are made or read at once on this process; each takes a core. Of two or more, one account never has all. */
    threads: variables.integer('PDF_THREADS', THREADS, { min: 1, max: 64 }),
  };
}

export type PdfSettings = ReturnType<typeof pdfSettings>;
