/** What people do while a fault is rehearsed: hot links, new links, the list, and writes that the caller can look for. */
import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { Trend } from 'k6/metrics';
import type { Options } from 'k6/options';
import { constantRate } from './modules/scenario.ts';
import { apiUrl, baseOptions, requireShortener, shortener, stack } from './modules/stack.ts';
import { addTask, openSession } from './modules/task-list.ts';

/** Requests a second. */
const rates = { hot: 40, miss: 4, read: 20, write: 20 };
const share = __ENV.LOAD_PROFILE === 'short' ? 0.5 : 1;
/** Longer than any row takes: the rehearsal ends the load. */
const seconds = 600;
const hotLinks = 20;

/** One sample for each request: milliseconds until it was answered or failed. */
const answers = new Trend('answers', true);

const scenario = (kind: string, rate: number) => ({
  ...constantRate(rate * share, seconds, 50),
  exec: kind,
});
export const options: Options = {
  ...baseOptions,
  scenarios: {
    hot: scenario('hotLink', rates.hot),
    miss: scenario('newLink', rates.miss),
    read: scenario('readList', rates.read),
    write: scenario('addOne', rates.write),
  },
};

export function setup() {
  requireShortener();
  return { run: __ENV.REHEARSAL_RUN, session: openSession(stack.tasks) };
}

type Run = ReturnType<typeof setup>;
type Response = RefinedResponse<'text'>;
const params = { timeout: '15s', redirects: 0, responseType: 'text' } as const;

function timed(kind: string, request: () => Response, right: (r: Response) => boolean, tags = {}): void {
  // The rehearsal waits for it.
  if (exec.scenario.iterationInTest === 0) console.log('under way');
  const start = Date.now();
  const response = request();
  const status = response.status || response.error_code;
  answers.add(Date.now() - start, { kind, status: `${status}`, right: `${right(response)}`, ...tags });
}

function expand(kind: string, link: string): void {
  const longUrl = shortener + link.replace(/\d+/, '0');
  timed(
    kind,
    () => http.get(apiUrl(link), params),
    (r) => r.status === 200 && r.body === longUrl,
  );
}

export const hotLink = ({ run }: Run) =>
  expand('hot', `/chain/2?id=${run}-${Math.floor(Math.random() * hotLinks)}`);
export const newLink = ({ run }: Run) =>
  expand('miss', `/chain/2?id=${run}-new-${exec.scenario.iterationInTest}`);
export const readList = () =>
  timed(
    'read',
    () => http.get(`${stack.tasks}/`, params),
    (r) => r.status === 200,
  );

export function addOne({ run, session }: Run) {
  const title = `${run} ${exec.scenario.iterationInTest}`;
  timed(
    'write',
    () => addTask(stack.tasks, session, title, params) as Response,
    (r) => r.status === 302,
    { title },
  );
}

export const handleSummary = () => ({});
