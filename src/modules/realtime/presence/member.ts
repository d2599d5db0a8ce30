// Who is in a presence channel. Ids are compared as texts, and shown as they were signed: a number comes back as a number. Its user_info, which
// is kept as JSON text, says so by a space before it, which is nothing in JSON.

/** `id`: as it was signed. `info`: JSON text of its user_info. */
export function memberInfo(id: string | number, info: string): string {
  return typeof id === 'number' ? ` ${info}` : info;
}

/** JSON text of the id. */
export function shownUserId(userId: string, info: string): string {
  return info.startsWith(' ') ? userId : JSON.stringify(userId);
}
