/** What the variables of `make load` and the options of a run mean for k6. */
export interface K6Options {
  args: string[];
  /** For the environment of k6. */
  variables: Record<string, string>;
}

const defaults = {
  dashboardPort: '5665',
  prometheus: 'http://127.0.0.1:9090/api/v1/write',
};

/**
 * Reads DASHBOARD and OBSERVE.
 *
 * @param args options for k6, passed on as they are.
 * @throws Error where Prometheus should take the metrics and does not answer.
 */
export async function k6Options(env: NodeJS.ProcessEnv, args: string[]): Promise<K6Options> {
  const options: K6Options = { args: [...args], variables: {} };
  // By itself, k6 ignores it in a script with scenarios.
  const users = /(?:^| )(?:--vus|-u)[ =](\d+)/.exec(args.join(' '))?.[1];
  if (users) options.variables.K6_VUS = users;
  if (isOn(env.DASHBOARD)) {
    const {
      K6_WEB_DASHBOARD_HOST: host = '127.0.0.1',
      K6_WEB_DASHBOARD_PORT: port = defaults.dashboardPort,
    } = env;
    Object.assign(options.variables, { K6_WEB_DASHBOARD_HOST: host, K6_WEB_DASHBOARD_PORT: port });
    console.log(`Live dashboard: http://${host}:${port} (k6 ends once its page is closed)`);
  }
  if (isOn(env.OBSERVE)) {
    const url = env.K6_PROMETHEUS_RW_SERVER_URL || defaults.prometheus;
    await requirePrometheus(url);
    options.args.unshift('--out', 'experimental-prometheus-rw');
    Object.assign(options.variables, {
      K6_PROMETHEUS_RW_SERVER_URL: url,
      K6_PROMETHEUS_RW_TREND_STATS: env.K6_PROMETHEUS_RW_TREND_STATS || 'med,p(95),p(99),p(99.9),max',
      K6_PROMETHEUS_RW_PUSH_INTERVAL: env.K6_PROMETHEUS_RW_PUSH_INTERVAL || '1s',
    });
    console.log(`Metrics go to ${url}.`);
  }
  return options;
}

const isOn = (value = '') => value !== '' && value !== '0';

/** An empty write is answered by any server that takes remote writes. */
async function requirePrometheus(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(3_000) }).catch(
    () => undefined,
  );
  if (response && response.status !== 404) return;
  const reason = response ? 'does not take metrics (--web.enable-remote-write-receiver)' : 'does not answer';
  throw new Error(
    `OBSERVE=1: Prometheus ${reason} at ${url}. Start it with "make observe", or set K6_PROMETHEUS_RW_SERVER_URL.`,
  );
}
