/**
 * Settings of each script. Rates are per second, durations in seconds, and latency limits in ms. A variable such as
 * LOAD_HOT_LINKS overrides a setting such as `hotLinks`.
 */
export const defaults = {
  smoke: { users: 2, iterations: 20 },
  keepalive: {
    rate: 200,
    // Number of consecutive requests per iteration. The first request cannot show the delay, because Linux acknowledges
    // immediately after 40 ms of idle time.
    burst: 4,
    duration: 40,
    users: 20,
    p50: 10,
    p99: 20,
    p999: 35,
    // Maximum fractions of delayed responses and reopened connections.
    delayed: 0.001,
    reopened: 0,
    dropped: 0,
  },
  expander: {
    rate: 300,
    duration: 60,
    users: 100,
    hotLinks: 100,
    hitP95: 15,
    missP95: 250,
    failed: 0.001,
    dropped: 0,
  },
  tasks: {
    readRate: 200,
    writeRate: 20,
    duration: 60,
    users: 50,
    listed: 10_000,
    readP95: 25,
    writeP95: 40,
    failed: 0.001,
    dropped: 0,
  },
  breakpoint: {
    rate: 200,
    peakRate: 10_000,
    duration: 300,
    users: 500,
    // Shares of requests. The rest are writes.
    hot: 0.6,
    cold: 0.1,
    list: 0.25,
    p99: 20,
    failed: 0.001,
  },
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Default URLs of `make up`, keyed by the variable that overrides them. */
export const stackUrls = {
  PROXY_URL: 'http://127.0.0.1:8080',
  EXPANDER_URL: 'http://127.0.0.1:8081',
  TASKS_URL: 'http://127.0.0.1:8082',
};

export const hosts = ({ LOAD_ALLOW_HOST = '' }: Variables): string[] =>
  LOAD_ALLOW_HOST.toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);

const thisMachine = /^(127\.0\.0\.1|localhost|[\w-]+\.localhost|\[::1\]|shortener)$/;

/**
 * Reads a URL from the environment. Allows only this machine, its shortener container and the hosts in LOAD_ALLOW_HOST, so
 * that a typo cannot send load to another host.
 *
 * @throws Error that names the variable and allowed hosts.
 */
export function allowedUrl(variable: string, env: Variables): string | undefined {
  const url = env[variable];
  if (!url) return undefined;
  const allowedHosts = hosts(env);
  const host = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?\/?$/i.exec(url)?.[1]?.toLowerCase();
  if (host && (thisMachine.test(host) || allowedHosts.includes(host))) return url.replace(/\/$/, '');
  const allowed = ['this machine', ...allowedHosts].join(', ');
  throw new Error(
    `${variable}=${url} is not allowed. You can load only ${allowed}. Use a URL such as http://127.0.0.1:8080, or list ` +
      'the hosts of your own stack in LOAD_ALLOW_HOST=expander.example.org,tasks.example.org.',
  );
}

const variable = (setting: string) => `LOAD_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}`;

/**
 * Reads a script's settings from environment variables such as LOAD_RATE=500.
 *
 * @throws Error that names the variable if its value is not a number.
 */
export function settings<Script extends keyof typeof defaults>(script: Script): (typeof defaults)[Script] {
  const own = Object.keys(defaults[script]).map(variable);
  const given = Object.keys(__ENV).filter((name) => name.startsWith('LOAD_') && __ENV[name]);
  const unused = given.filter((name) => !own.includes(name) && name !== 'LOAD_ALLOW_HOST');
  // Every VU runs this function, but only the first VU warns. Unused variables are not an error, because scripts may share an
  // environment.
  if (__VU === 1 && unused.length > 0)
    console.warn(`No effect on ${script}: ${unused.join(', ')}. Its settings are ${own.join(', ')}.`);
  const entries = Object.entries(defaults[script]).map(([setting, value]) => {
    const name = variable(setting);
    const text = __ENV[name] || `${value}`;
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${name}=${text} is not a number.`);
    return [setting, Number(text)];
  });
  return Object.fromEntries(entries) as (typeof defaults)[Script];
}
