import { blockSettings } from '../../../kit/block-settings.ts';
import { KEEP_DAYS } from '../limits.ts';

export const settings = blockSettings({ module: 'analytics', noun: 'events', keepDays: KEEP_DAYS });
