/**
 * Variables with a prefix of ours that neither a service nor the stack reads: those of TLS in compose, of the images, and
 * of the load tests, which may be exported while the stack is started.
 */
export const otherVariables: readonly string[] = [
  'LONGHAND_CERTIFICATES',
  'LONGHAND_HTTP_PORT',
  'LONGHAND_HTTPS_PORT',
  'LONGHAND_REGISTRY',
  'LONGHAND_VERSION',
  'LONGHAND_REHEARSAL',
  'EXPANDER_URL',
  'TASKS_URL',
  'TASKS_DIRECT_URL',
];
