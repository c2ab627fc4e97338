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
