// What module errors brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { errorsPage } from './errors.ts';
import { failingErrors } from './failing.ts';
import { errorPage } from './one.ts';

export const errorsConsole: ModuleConsole = {
  pages: [errorsPage, errorPage],
  failing: { path: '/errors', of: failingErrors },
};
