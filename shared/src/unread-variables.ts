/**
 * Variables that Longhand no longer reads. For one release they cause a warning instead of stopping the start, because an
 * `.env` from before must not end an upgrade. Compose passes them to the expander, which warns.
 */
export const retiredVariables: readonly string[] = [
  'LONGHAND_SERVER_TIMING',
  'EXPANDER_ACCEPT',
  'EXPANDER_ACCEPT_LANGUAGE',
];

/** The warning about those that `env` sets, or undefined if there are none. */
export function retiredWarning(env: NodeJS.ProcessEnv): string | undefined {
  const set = retiredVariables.filter((name) => env[name]);
  if (set.length > 0) return `no longer used, remove from the environment: ${set.join(', ')}`;
}

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
