/** Every variable with one of our prefixes. Any other name with them is most likely misspelt and stops the start. */
export const variableNames: readonly string[] = [
  'LONGHAND_BIND',
  'LONGHAND_PORT',
  'LONGHAND_EXPANDER_PORT',
  'LONGHAND_TASKS_PORT',
  'LONGHAND_API_RATE',
  'LONGHAND_PROMETHEUS_PORT',
  'LONGHAND_GRAFANA_PORT',
  'LONGHAND_WORKERS',
  'LONGHAND_FRONT',
  'LONGHAND_EXPANDER_NAME',
  'LONGHAND_TASKS_NAME',
  'LONGHAND_REPLICAS',
  'LONGHAND_CERTIFICATES',
  'LONGHAND_HTTP_PORT',
  'LONGHAND_HTTPS_PORT',
  'EXPANDER_ALLOWED_NETWORKS',
  'EXPANDER_MAX_REDIRECT',
  'EXPANDER_CLIENT_RATE',
  'EXPANDER_TOKENS_FILE',
  'EXPANDER_USER_AGENT',
  'EXPANDER_REDIS_URL',
  'EXPANDER_REDIS_CA_FILE',
  'TASKS_PASSWORD_FILE',
  'TASKS_TOKENS_FILE',
  'TASKS_REDIS_URL',
  'TASKS_REDIS_CA_FILE',
  'TASKS_WAIT_REPLICAS',
  // Of the load tests, and of `make kubernetes`.
  'EXPANDER_URL',
  'TASKS_URL',
  'TASKS_DIRECT_URL',
  'LONGHAND_REGISTRY',
  'LONGHAND_VERSION',
];

/** A message for each unknown name with one of our prefixes that `env` sets. */
export const unknownNames = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env)
    .filter((name) => /^(LONGHAND|EXPANDER|TASKS)_/.test(name) && env[name] && !variableNames.includes(name))
    .map((name) => `${name}: there is no such variable`);
