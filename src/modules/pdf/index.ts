// The pdf module: PDFs from HTML, Markdown and text, and operations on existing PDFs. It stores nothing.

import { defineModule } from '../../kit/module.ts';
import type { Services } from '../../kit/services.ts';
import { create } from './capabilities/create.ts';
import { extractText } from './capabilities/extract-text.ts';
import { fill } from './capabilities/fill.ts';
import { info } from './capabilities/info.ts';
import { merge } from './capabilities/merge.ts';
import { split } from './capabilities/split.ts';
import { gotenbergRoutes } from './gotenberg/routes.ts';
import { PAGES_CHARGED_MIN } from './limits.ts';
import { Engines } from './operations/engines.ts';
import { type PdfSettings, pdfSettings } from './settings.ts';
import type { PdfState } from './state.ts';

const NANOS_PER_PAGE = 100_000n;
const page = { unit: 'page', nanosPerUnit: NANOS_PER_PAGE, minimumNanos: BigInt(PAGES_CHARGED_MIN) * NANOS_PER_PAGE };

export const pdf = defineModule<PdfState, PdfSettings>({
  name: 'pdf',
  summary: 'PDFs of HTML and Markdown; merge, split, fill, read.',
  status: 'beta',
  shownBy: ['pdf.create', 'pdf.extract_text'],
  capabilities: [create, merge, split, fill, info, extractText],
  console: async () => (await import('./console/index.ts')).pdfConsole,
  prices: { 'pdf.create': page, 'pdf.merge': page, 'pdf.split': page, 'pdf.fill': page, 'pdf.extract_text': page },
  settings: pdfSettings,
  rawRoutes: gotenbergRoutes,
  clients: [
    {
      client: "Gotenberg's clients",
      address: '{base_url}/v1/pdf/gotenberg',
      use: 'HTML to PDF, merge, split',
      serves: ['pdf.create', 'pdf.merge', 'pdf.split'],
    },
  ],
  start: (core: Services, settings) => ({
    settings: { ...settings, hasBrowser: core.rendering.hasBrowser },
    engines: new Engines(core, settings),
  }),
  close: ({ engines }) => engines.close(),
});
