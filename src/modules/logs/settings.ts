// Environment variables of the logs module.
import type { Variables } from '../../config/variables.ts';

export interface LogsSettings {
  /** Columns of older blocks go to the asset store; null: never. */
  readonly hotDays: number | null;
}

export function logsSettings(variables: Variables): LogsSettings {
  const days = variables.integer('LOGS_HOT_DAYS', 3, { min: 0, max: 90 });
  return { hotDays: days === 0 ? null : days };
}
