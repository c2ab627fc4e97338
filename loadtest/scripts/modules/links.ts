/** Links of the local shortener. */
import http from 'k6/http';
import { abort, requirePage, shortener, stack } from './stack.ts';

/** The API's URL for `link` of the local shortener. */
export const apiUrl = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

/** The path of a link that this run requests again and again. */
export const hotLink = (run: number, i: number) => `/chain/2?id=${run}-hot-${i}`;

/**
 * Requests a link of the shortener. Aborts the run unless the status is 200 or one of `expected`. For `setup`.
 *
 * @returns the status.
 */
export function linkStatus(...expected: number[]): number {
  const responseCallback = http.expectedStatuses(200, ...expected);
  const { status } = http.get(apiUrl('/chain/2'), { tags: { name: 'setup' }, responseCallback });
  if (status !== 200 && !expected.includes(status))
    abort(
      `The expander answers ${status} for a link to ${shortener}. Name a running shortener in SHORTENER_URL, and let ` +
        'the expander contact it: EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8. "make load" does both for a stack of its own.',
    );
  return status;
}

/**
 * Fills the expander's caches with hot links. Aborts the run if it cannot follow one. For `setup`.
 *
 * @returns the id of this run, which is in all its links.
 */
export function prepareLinks(hotLinks: number): number {
  requirePage(stack.expander);
  linkStatus();
  const params = { tags: { name: 'setup' } };
  const run = Date.now();
  for (let i = 0; i < hotLinks; i += 1) http.get(apiUrl(hotLink(run, i)), params);
  return run;
}
