// Presets: named transformations of an account. Links refer to a preset by name, so its transformation can change without new links.
import Type from 'typebox';
import { type Resource, resourceTable, rowSaver } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import type { Transform } from '../pictures/task.ts';
import { transformFields } from '../schemas.ts';

/** As it is saved: the transformation as JSON text. */
interface PresetColumns {
  readonly name: string;
  readonly created_at: number;
  readonly updated_at: number;
}
export interface PresetRow extends PresetColumns {
  readonly transform: Transform;
}

export const presetNameField = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-z0-9][a-z0-9_-]*$',
  description: 'Lower-case letters, digits, `-` and `_`.',
});

export const presetSchema = Type.Object({
  name: Type.String({ description: 'Its name.' }),
  transform: Type.Object(transformFields, { description: 'What is done to an image.' }),
  created_at: Type.String({ format: 'date-time', description: 'When it was first set.' }),
  updated_at: Type.String({ format: 'date-time', description: 'When it was set last.' }),
});

const shape = { table: 'image.preset', key: 'name', columns: 'name, transform, created_at, updated_at' };
export const presetTable = resourceTable<PresetRow>(shape);
export const savePreset = rowSaver<PresetColumns & { readonly transform: string }>(shape);

export const presetLimits = {
  image_presets: {
    description: 'Presets of images.',
    used: presetTable.count,
    standard: 100,
    pro: 1_000,
    enterprise: 10_000,
  },
};

export const presets: Resource<PresetRow, unknown, typeof presetSchema> = {
  ...presetTable,
  noun: 'preset',
  keyName: 'name',
  keyField: presetNameField,
  output: presetSchema,
  show: (row) => ({ ...row, created_at: iso(row.created_at), updated_at: iso(row.updated_at) }),
};
