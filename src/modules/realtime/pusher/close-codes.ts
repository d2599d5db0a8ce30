// Close and error codes of the Pusher Channels protocol 7. 4000-4099: do not reconnect unchanged; 4100-4199: reconnect after a second;
// 4200-4299: reconnect at once; 4300-4399: the connection goes on.

export const codes = {
  unknownApp: 4001,
  disabledApp: 4003,
  overQuota: 4004,
  unsupportedVersion: 4007,
  unauthorized: 4009,
  overCapacity: 4100,
  reconnect: 4200,
  rejected: 4301,
} as const;

/** Protocol versions of clients. */
export const VERSIONS = ['5', '6', '7'];
