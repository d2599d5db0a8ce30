// How a call came in (metadata.entry_form).
export const entryForms = ['rest'] as const;
export type EntryForm = (typeof entryForms)[number];
