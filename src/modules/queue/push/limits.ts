// Numbers of queue push (contract §7; where it is silent, the module's README).
export const SUBSCRIPTIONS_PER_QUEUE_MAX = 10;
export const IN_FLIGHT_MAX = 10;
/** A lease must outlast an attempt of 15 s, the way to the receiver and the way back included. */
export const LEASE_SECONDS_MIN = 30;
