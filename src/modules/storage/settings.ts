// Operator settings of the storage module.
import type { Variables } from '../../config/variables.ts';

export function storageSettings(variables: Variables) {
  return {
    /** Objects of an account that has not paid for them for so many days are deleted; 0: never. */
    debtDays: variables.integer('STORAGE_DEBT_DAYS', 0, { min: 0, max: 3_650 }),
  };
}

export type StorageSettings = ReturnType<typeof storageSettings>;
