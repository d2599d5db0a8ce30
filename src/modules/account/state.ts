// The module keeps nothing in the process: everything is in the database and in the services of the core.
export type AccountState = null;
