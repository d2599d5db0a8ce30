// Identity of a presence channel's members. Ids are compared as text and shown as they were signed: a number comes back as a number. A numeric
// id is marked by a leading space in the stored user_info, which JSON ignores.

/** `id`: as it was signed. `info`: JSON text of its user_info. */
export function memberInfo(id: string | number, info: string): string {
  return typeof id === 'number' ? ` ${info}` : info;
}

/** JSON text of the id. */
export function shownUserId(userId: string, info: string): string {
  return info.startsWith(' ') ? userId : JSON.stringify(userId);
}
