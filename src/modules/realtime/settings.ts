// Operator settings of the realtime module.
import type { Variables } from '../../config/variables.ts';
import { MESSAGE_KIB, MESSAGE_KIB_MAX } from './limits.ts';

export interface RealtimeSettings {
  /** Of the data of a message. */
  readonly messageBytesMax: number;
}

export function realtimeSettings(variables: Variables): RealtimeSettings {
  const kib = variables.integer('REALTIME_MESSAGE_KB', MESSAGE_KIB, { min: 1, max: MESSAGE_KIB_MAX });
  return { messageBytesMax: kib * 1024 };
}
