// Console pages of module operator.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { operatorAccountPage } from './account.ts';
import { operatorHealthPage } from './health.ts';
import { operatorPage } from './operator.ts';
import { operatorMailPage, operatorOutboxPage } from './outbox.ts';
import { refundPage, rejectPage } from './topup-ends.ts';
import { operatorTopupsPage } from './topups.ts';

export const operatorConsole: ModuleConsole = {
  pages: [
    ...[operatorPage, operatorAccountPage, refundPage, rejectPage, operatorTopupsPage],
    ...[operatorOutboxPage, operatorMailPage, operatorHealthPage],
  ],
};
