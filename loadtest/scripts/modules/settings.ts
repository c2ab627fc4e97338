/** The environment variables of the scripts. */

/**
 * The settings of each script. Rates are per second, durations in seconds, limits of latencies in milliseconds. Each is
 * also a variable: `hotLinks` is LOAD_HOT_LINKS.
 */
export const defaults = {
  smoke: { users: 2, iterations: 20 },
  keepalive: {
    rate: 200,
    // Requests in a row on one connection. After a pause of more than 40 ms between a response and the next request,
    // Linux acknowledges at once (it leaves "pingpong" mode), which would hide the delay that we look for.
    burst: 4,
    duration: 40,
    users: 20,
    p50: 10,
    p99: 20,
    p999: 35,
    // The share of responses that took as long as a delayed acknowledgement.
    delayed: 0.001,
    // The share of requests that opened a new connection.
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
    duration: 5 * 60,
    users: 500,
    // The share of each kind of request.
    hot: 0.6,
    cold: 0.1,
    list: 0.25,
    writes: 0.05,
    p99: 20,
    failed: 0.001,
  },
};

type Variables = Readonly<Record<string, string | undefined>>;

/** The URLs of `make up`, by the variable that names another stack. */
export const stackUrls = {
  PROXY_URL: 'http://127.0.0.1:8080',
  EXPANDER_URL: 'http://127.0.0.1:8081',
  TASKS_URL: 'http://127.0.0.1:8082',
};

/** The hosts in LOAD_ALLOW_HOST. */
export const hosts = ({ LOAD_ALLOW_HOST = '' }: Variables): string[] =>
  LOAD_ALLOW_HOST.toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);

const thisMachine = /^(127\.0\.0\.1|localhost|[\w-]+\.localhost|\[::1\]|shortener)$/;

/**
 * Reads a URL from the environment. A typo must not send load to another machine: this allows only this machine, its
 * container of the shortener, and the hosts in LOAD_ALLOW_HOST.
 *
 * @throws Error that names the variable and the allowed hosts.
 */
export function allowedUrl(variable: string, env: Variables): string | undefined {
  const url = env[variable];
  const allowedHosts = hosts(env);
  if (!url) return undefined;
  const host = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?\/?$/i.exec(url)?.[1]?.toLowerCase();
  if (host && (thisMachine.test(host) || allowedHosts.includes(host))) return url.replace(/\/$/, '');
  const allowed = ['this machine', ...allowedHosts].join(', ');
  throw new Error(
    `${variable}=${url}: not allowed. Load goes to ${allowed} only. Use a URL such as http://127.0.0.1:8080, or name ` +
      'the hosts of your own stack in LOAD_ALLOW_HOST=expander.example.org,tasks.example.org.',
  );
}

const variable = (setting: string) => `LOAD_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}`;

/**
 * The settings of a script, each from its variable, such as LOAD_RATE=500, or its default.
 *
 * @throws Error that names the variable and its value, if that is not a number.
 */
export function settings<Script extends keyof typeof defaults>(script: Script): (typeof defaults)[Script] {
  const own = Object.keys(defaults[script]).map(variable);
  const given = Object.keys(__ENV).filter((name) => name.startsWith('LOAD_') && __ENV[name]);
  const unused = given.filter((name) => !own.includes(name) && name !== 'LOAD_ALLOW_HOST');
  // Every VU runs this; one warns. Several scripts may share an environment, so this is not an error.
  if (__VU === 1 && unused.length > 0)
    console.warn(`${unused.join(', ')}: no effect on ${script}, which has ${own.join(', ')}.`);
  const entries = Object.entries(defaults[script]).map(([setting, value]) => {
    const name = variable(setting);
    const text = __ENV[name] || `${value}`;
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${name}=${text}: is not a number.`);
    return [setting, Number(text)];
  });
  return Object.fromEntries(entries) as (typeof defaults)[Script];
}
