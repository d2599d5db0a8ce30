// JSON that is already text: passed to the wire unchanged, so opaque values keep key order, escapes and digits.

export class JsonText {
  readonly text: string;

  /** `text` must be one complete JSON value. */
  constructor(text: string) {
    this.text = text;
  }
}

/** Serialises a value that may be a JsonText at its root. */
export function toJson(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}
