// The list of modules, and nothing else.

import type { Module } from '../kit/module.ts';
import { account } from './account/index.ts';
import { ai } from './ai/index.ts';
import { alerts } from './alerts/index.ts';
import { analytics } from './analytics/index.ts';
import { captcha } from './captcha/index.ts';
import { cron } from './cron/index.ts';
import { dns } from './dns/index.ts';
import { email } from './email/index.ts';
import { errors } from './errors/index.ts';
import { flags } from './flags/index.ts';
import { image } from './image/index.ts';
import { logs } from './logs/index.ts';
import { metrics } from './metrics/index.ts';
import { operator } from './operator/index.ts';
import { pdf } from './pdf/index.ts';
import { queue } from './queue/index.ts';
import { realtime } from './realtime/index.ts';
import { risk } from './risk/index.ts';
import { rtc } from './rtc/index.ts';
import { sms } from './sms/index.ts';
import { storage } from './storage/index.ts';
import { vault } from './vault/index.ts';
import { vector } from './vector/index.ts';
import { video } from './video/index.ts';
import { web } from './web/index.ts';

export const modules: readonly Module[] = [
  account,
  ai,
  alerts,
  analytics,
  captcha,
  cron,
  dns,
  email,
  errors,
  flags,
  image,
  logs,
  metrics,
  operator,
  pdf,
  queue,
  realtime,
  risk,
  rtc,
  sms,
  storage,
  vault,
  vector,
  video,
  web,
];
