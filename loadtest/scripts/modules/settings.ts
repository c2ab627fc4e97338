import { type Profile, profiles } from '../../profiles.ts';

/** Variables that are not settings of a script. */
const others = ['LOAD_PROFILE', 'LOAD_ALLOW_HOST'];

const variable = (setting: string) => `LOAD_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}`;

/**
 * The settings of a script: those of the profile that LOAD_PROFILE names, each of which a variable of its own changes,
 * such as LOAD_RATE=500 or LOAD_DURATION=2m30s.
 *
 * @throws Error that names the variable, its value and what is possible.
 */
export function settings<Script extends keyof Profile>(script: Script): Profile[Script] {
  const name = __ENV.LOAD_PROFILE || 'full';
  const profile = profiles[name];
  if (!profile)
    throw new Error(`LOAD_PROFILE=${name}: the profiles are ${Object.keys(profiles).join(' and ')}.`);
  const known = Object.values(profile).flatMap((settings) => Object.keys(settings).map(variable));
  const given = Object.keys(__ENV).filter((name) => name.startsWith('LOAD_') && !others.includes(name));
  const unknown = given.find((name) => !known.includes(name));
  if (unknown) throw new Error(`${unknown}: there is no such variable; see loadtest/README.md.`);
  // Several scripts may share an environment. Every user runs this; one says it.
  const own = Object.keys(profile[script]).map(variable);
  const unused = given.filter((name) => __ENV[name] && !own.includes(name));
  if (__VU === 1 && unused.length > 0)
    console.warn(`${unused.join(', ')}: no effect on ${script}, which has ${own.join(', ')}.`);
  const entries = Object.entries(profile[script]).map(([setting, value]) => {
    // K6_VUS, which k6 itself ignores in a script with scenarios, is the number of users.
    const given = __ENV[variable(setting)] || (setting === 'users' && __ENV.K6_VUS);
    return [setting, given ? read(setting, given) : value];
  });
  return Object.fromEntries(entries) as Profile[Script];
}

/** Settings that are seconds. */
const durations = ['duration', 'ramp', 'hold', 'after'];

/** Settings that count something. */
const counts = /rate$|^(burst|users|iterations|listed|hotLinks)$/i;

/** A number; seconds may also have k6's form `1h2m3s`. */
function read(setting: string, text: string): number {
  if (counts.test(setting) && !/^\d+$/.test(text))
    throw new Error(`${variable(setting)}=${text}: is not a whole number.`);
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const isDuration = durations.includes(setting);
  const [, h = 0, m = 0, s = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(text) ?? [];
  const seconds = Number(h) * 3_600 + Number(m) * 60 + Number(s);
  if (isDuration && seconds > 0) return seconds;
  const expected = isDuration
    ? 'is neither a number of seconds nor a duration such as 1m30s'
    : 'is not a number';
  throw new Error(`${variable(setting)}=${text}: ${expected}.`);
}
