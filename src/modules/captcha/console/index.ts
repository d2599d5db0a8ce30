// What module captcha brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { captchaPage } from './captcha.ts';

export const captchaConsole: ModuleConsole = { pages: [captchaPage] };
