-- The type of what was thrown, told beside the title of a group; null: it was no exception, or came before this.

ALTER TABLE errors.error_group ADD COLUMN exception_type text;
