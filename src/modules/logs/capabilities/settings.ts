import { blockSettings } from '../../../kit/block-settings.ts';
import { KEEP_DAYS } from '../limits.ts';

export const settings = blockSettings({ module: 'logs', noun: 'log records', keepDays: KEEP_DAYS });
