// In-process state of the web module.

import { AnswerEffect } from '../../core/wallet/charge/charge-answer.ts';
import type { Services } from '../../kit/services.ts';
import { Browsers } from './browser/browsers.ts';
import { Pace } from './fetch/pace.ts';
import { Robots } from './fetch/robots.ts';
import { Readers } from './read/readers.ts';
import type { WebSettings } from './settings.ts';

export interface WebState {
  readonly core: Services;
  readonly settings: WebSettings;
  readonly userAgent: string;
  readonly robots: Robots;
  readonly pace: Pace;
  readonly readers: Readers;
  readonly browsers: Browsers;
  readonly shooting: AnswerEffect;
  readonly fetching: AnswerEffect;
  readonly mapping: AnswerEffect;
  readonly searching: AnswerEffect;
}

export function startWeb(core: Services, settings: WebSettings): WebState {
  const userAgent = settings.userAgent ?? `Quartermaster/1 (+${core.baseUrl})`;
  return {
    core,
    settings,
    userAgent,
    pace: new Pace(core.db, settings.hostEveryMs),
    robots: new Robots(core, { obeys: settings.obeysRobots, userAgent }),
    readers: new Readers(core, settings),
    fetching: new AnswerEffect('web.fetch'),
    browsers: new Browsers(core, settings),
    shooting: new AnswerEffect('web.screenshot'),
    mapping: new AnswerEffect('web.map'),
    searching: new AnswerEffect('web.search'),
  };
}
