// Error codes that operations on a zone at a vendor have beside their own.
export const vendorErrors = [
  ...([
    'VENDOR_NOT_AVAILABLE',
    'VENDOR_AUTH_ERROR',
    'VENDOR_DOWN',
    'VENDOR_ERROR',
    'VENDOR_TIMEOUT',
    'RATE_LIMIT_VENDOR',
  ] as const),
] as const;
