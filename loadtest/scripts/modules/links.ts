/** Links of the local shortener. */
import http from 'k6/http';
import { abort, allowedHosts, requirePage, shortener, stack } from './stack.ts';

/** The API's URL for `link` of the local shortener. */
export const apiUrl = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

/** The path of a link that this run requests again and again. */
export const hotLink = (run: number, i: number) => `/chain/2?id=${run}-hot-${i}`;

/** The status of a link of the shortener: 200, or one that is expected. Any other one aborts the run. For `setup`. */
export function linkStatus(...expected: number[]): number {
  const responseCallback = http.expectedStatuses(200, ...expected);
  const { status } = http.get(apiUrl('/chain/2'), { tags: { name: 'setup' }, responseCallback });
  if (status !== 200 && !expected.includes(status)) {
    const cure =
      allowedHosts.length > 0
        ? 'name a shortener that it may contact in SHORTENER_URL and LOAD_ALLOW_HOST.'
        : 'start the stack with EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 and "npm start -w shortener -- --port 9000", ' +
          'or stop it, and "make load" starts its own.';
    abort(`The expander answers ${status} for a link to ${shortener}: ${cure}`);
  }
  return status;
}

/**
 * Lets the expander remember hot links. Aborts the run if it cannot follow one. For `setup`.
 *
 * @returns what tells this run's links apart.
 */
export function prepareLinks(hotLinks: number): number {
  requirePage(stack.expander);
  linkStatus();
  const params = { tags: { name: 'setup' } };
  const run = Date.now();
  for (let i = 0; i < hotLinks; i += 1) http.get(apiUrl(hotLink(run, i)), params);
  return run;
}
