// Small forms that the schemas of the module are made of.
import Type from 'typebox';

/** A schema of one type that also takes null, which means the same as absent in what is sent. */
export const orNull = <T>(schema: Record<string, unknown>, description: string) => {
  const enumerated = schema.enum === undefined ? {} : { enum: [...(schema.enum as readonly unknown[]), null] };
  return Type.Unsafe<T | null>({ ...schema, ...enumerated, type: [schema.type as string, 'null'], description });
};

export const textOrNull = (description: string) => orNull<string>({ type: 'string' }, description);

export const objectOrNull = (description: string) =>
  orNull<Record<string, unknown>>({ type: 'object', additionalProperties: true }, description);

export const instant = (description: string) => Type.String({ format: 'date-time', description });

export const countField = (description: string) => Type.Integer({ minimum: 0, description });
