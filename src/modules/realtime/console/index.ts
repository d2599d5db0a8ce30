// Console pages of module realtime.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { appPage } from './app.ts';
import { channelPage } from './channel.ts';
import { channelsPage } from './channels.ts';
import { settingsPage } from './settings.ts';

export const realtimeConsole: ModuleConsole = { pages: [channelsPage, appPage, settingsPage, channelPage] };
