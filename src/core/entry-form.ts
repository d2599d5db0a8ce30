// How a call came in (metadata.entry_form).
export type EntryForm = 'rest' | 'mcp' | 'openai_compat' | 'console' | 'cli' | 'internal';
