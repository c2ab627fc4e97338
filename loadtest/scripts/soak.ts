/**
 * A modest load for a long time: nothing fails. `make load SCRIPT=soak` also watches memory and open files of every
 * process of the stack.
 */
import { check } from 'k6';
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { apiUrl, hotLink, prepareLinks } from './modules/links.ts';
import { askControl, baseOptions, constantRate, controlThresholds, get } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { stack } from './modules/stack.ts';
import { addTask, findTasks, openTaskList } from './modules/task-list.ts';

const { rate, duration, users } = settings('soak');
const hotLinks = 50;
/** A quarter of the requests takes these in turn, eight times each. */
const coldLinks = Math.ceil((rate * duration) / 32);
const tasks = 50;

export const options: Options = {
  ...baseOptions,
  scenarios: { load: constantRate(rate, duration, users) },
  thresholds: {
    'http_req_failed{target:stack}': ['rate==0'],
    dropped_iterations: ['count==0'],
    checks: ['rate==1'],
    ...controlThresholds(['p(95)<25']),
  },
};

export function setup() {
  const { session, titlePrefix } = openTaskList(
    `${tasks} tasks, and finishes and reopens them ${rate / 10} times a second for ${duration} s`,
  );
  const run = prepareLinks(hotLinks);
  for (let i = 0; i < tasks; i += 1) addTask(session, `${titlePrefix} ${i}`);
  const ids = findTasks(titlePrefix).map(({ _id }) => _id);
  return { ids, titlePrefix, run };
}

/**
 * Reads, hot links, links that have just expired, and writes. New data comes only in the first eighth of the run:
 * whatever grows later is a leak.
 */
export default function mixedRequest({ ids, run }: ReturnType<typeof setup>) {
  askControl();
  const i = exec.scenario.iterationInTest;
  const requests = [
    () => get(`${stack.tasks}/`, { name: 'GET /' }),
    () => get(apiUrl(hotLink(run, i % hotLinks)), { name: 'hit' }),
    () => get(apiUrl(`/chain/3?id=${run}-${i % coldLinks}&cache-control=max-age%3D30`), { name: 'miss' }),
    () => get(`${stack.expander}/`, { name: 'GET / of the expander' }),
  ];
  const change = () => {
    const action = Math.floor(i / 10 / tasks) % 2 === 0 ? 'finish' : 'unfinish';
    const url = `${stack.tasks}/task/${ids[(i / 10) % tasks]}/${action}`;
    return get(url, { name: `GET /task/:id/${action}` });
  };
  const request = i % 10 === 0 ? change : requests[i % requests.length];
  const response = (request ?? change)();
  check(response, { 'the response is right': (r) => r.status === 200 || r.status === 302 });
}

export { teardown } from './modules/task-list.ts';
