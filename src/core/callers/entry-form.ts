// Entry forms of a call (metadata.entry_form): the interface through which it arrived.
export const entryForms = ['rest', 'openai_compat', 'anthropic_compat', 'mcp', 'console', 'smtp', 'proxy'] as const;
export type EntryForm = (typeof entryForms)[number];
