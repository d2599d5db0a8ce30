// The part of JSON Schema that parsing an input, and warnings of its fields, look at.

export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly additionalProperties?: unknown;
  /** Of the input as a whole: names that are known though they stand nowhere. */
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
}

/** Whether fields beyond the named ones belong to the input. */
export function takesUnknownFields({ additionalProperties }: FieldSchema): boolean {
  return additionalProperties === true || (typeof additionalProperties === 'object' && additionalProperties !== null);
}
