// Console pages of module errors, and its current failures for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { errorsPage } from './errors.ts';
import { failingErrors } from './failing.ts';
import { errorPage } from './one.ts';

export const errorsConsole: ModuleConsole = {
  pages: [errorsPage, errorPage],
  failing: { path: '/errors', of: failingErrors },
};
