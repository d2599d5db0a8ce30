// The list of modules, and nothing else.
import { account } from '../modules/account/index.ts';
import { ai } from '../modules/ai/index.ts';
import { cron } from '../modules/cron/index.ts';
import { errors } from '../modules/errors/index.ts';
import { operator } from '../modules/operator/index.ts';
import { queue } from '../modules/queue/index.ts';
import { vector } from '../modules/vector/index.ts';
import { video } from '../modules/video/index.ts';
import type { Module } from './module.ts';

export const modules: readonly Module[] = [account, ai, cron, errors, operator, queue, vector, video];
