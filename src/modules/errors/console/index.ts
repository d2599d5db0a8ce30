// What module errors brings to the console.
import { foundIn } from '../../../kit/console/find.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { groups } from '../capabilities/groups.ts';
import { errorsPage } from './errors.ts';
import { failingErrors } from './failing.ts';
import { errorPage } from './one.ts';

export const errorsConsole: ModuleConsole = {
  pages: [errorsPage, errorPage],
  failing: { path: '/errors', of: failingErrors },
  find: (visit, text) =>
    foundIn(visit, groups, text, ({ error_group_id: id, title }) => ({
      ...{ kind: 'error', name: title, id, path: `/errors/${id}` },
    })),
};
