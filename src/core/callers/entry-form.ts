// How a call came in (metadata.entry_form).
export const entryForms = ['rest', 'openai_compat', 'mcp', 'console', 'smtp'] as const;
export type EntryForm = (typeof entryForms)[number];
