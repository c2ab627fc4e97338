import { type Profile, profiles } from '../../profiles.ts';

/** Variables that are not settings of a script. */
const others = ['LOAD_PROFILE', 'LOAD_ALLOW_HOST'];

const variable = (setting: string) => `LOAD_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}`;

/**
 * The settings of a script: those of the profile that LOAD_PROFILE names, each of which a variable of its own changes,
 * such as LOAD_RATE=500.
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
    const given = __ENV[variable(setting)];
    return [setting, given ? read(setting, given) : value];
  });
  return Object.fromEntries(entries) as Profile[Script];
}

/** Settings that count something. */
const counts = /rate$|^(burst|users|iterations|listed|hotLinks)$/i;

function read(setting: string, text: string): number {
  const [pattern, kind] = counts.test(setting) ? [/^\d+$/, 'whole number'] : [/^\d+(\.\d+)?$/, 'number'];
  if (!pattern.test(text)) throw new Error(`${variable(setting)}=${text}: is not a ${kind}.`);
  return Number(text);
}
