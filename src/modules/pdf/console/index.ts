// Console pages of module pdf.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { pdfPage } from './pdf.ts';

export const pdfConsole: ModuleConsole = { pages: [pdfPage] };
