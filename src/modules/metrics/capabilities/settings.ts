import { blockSettings } from '../../../kit/block-settings.ts';
import { samplesKind } from '../samples/kind.ts';

export const settings = blockSettings({ module: 'metrics', noun: 'metric samples', keepDays: samplesKind.keepDays });
