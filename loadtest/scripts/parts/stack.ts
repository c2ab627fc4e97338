import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { type Profile, profiles } from '../../profiles.ts';

/** Where the stack answers: the environment's word, else the local stack as `make up` starts it. */
export const stack = {
  proxy: address('PROXY_URL') || 'http://127.0.0.1:8080',
  expander: address('EXPANDER_URL') || 'http://127.0.0.1:8081',
  tasks: address('TASKS_URL') || 'http://127.0.0.1:8082',
};

/** The tasks service without the proxy in front of it, where it can be reached. */
export const tasksDirect = address('TASKS_DIRECT_URL');

/** Operations endpoints, where they can be reached: the proxy does not pass them on. */
export const operations = { expander: address('EXPANDER_OPS_URL'), tasks: address('TASKS_OPS_URL') };

/** The local shortener that the expander's links lead to. */
export const shortener = address('SHORTENER_URL') || 'http://127.0.0.1:9000';

/**
 * The address that a variable holds. Load is for this machine, and for the shortener's container on it: nobody
 * else is to get it by a slip of the keys.
 */
function address(variable: string): string | undefined {
  const url = __ENV[variable];
  if (!url || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]|shortener):\d+$/.test(url)) return url;
  throw new Error(`${variable}=${url}: load goes to this machine alone, as in http://127.0.0.1:8080.`);
}

/** The load that LOAD_PROFILE names. */
export const profile: Profile = named(__ENV.LOAD_PROFILE || 'full');

function named(name: string): Profile {
  const found = Object.entries(profiles).find(([known]) => known === name);
  if (found) return found[1];
  throw new Error(`LOAD_PROFILE=${name}: there is ${Object.keys(profiles).join(' and ')}.`);
}

/** Ends the run at once, with a sentence for people. */
export function stop(sentence: string): never {
  exec.test.abort(sentence);
  throw new Error(sentence);
}

/** The first page at `url`; ends the run when nothing answers there. For `setup`. */
export function firstPage(url: string): RefinedResponse<'text'> {
  const response = http.get(`${url}/`, {
    timeout: '3s',
    responseType: 'text',
    tags: { name: 'setup' },
    // A jar of its own: cookies know no ports, and every service here is at 127.0.0.1.
    jar: new http.CookieJar(),
  });
  if (response.status !== 200) {
    stop(
      `The stack is not up: ${url}/ answers ${response.status || response.error}. Start it with "make up".`,
    );
  }
  return response;
}

/** The address of the API's answer for `link` of the local shortener. */
export const api = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

/** Ends the run when the expander may not follow links to the local shortener. For `setup`. */
export function shortenerIsAllowed(): void {
  firstPage(stack.expander);
  const response = http.get(api('/chain/2'), { tags: { name: 'setup' } });
  if (response.status === 200) return;
  stop(
    `The expander answers ${response.status} for a link to ${shortener}: ` +
      'start the stack with EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 and "node shortener/shortener.ts", ' +
      'or stop it, and "make load" starts its own.',
  );
}
