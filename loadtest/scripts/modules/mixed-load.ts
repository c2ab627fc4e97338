import { check } from 'k6';
import { apiUrl, hotLink, prepareLinks, requestNumber } from './links.ts';
import { askControl, get } from './requests.ts';
import { stack } from './stack.ts';
import { addTask, importTasks, openTaskList } from './task-list.ts';

/** The share of each kind of request. */
export interface Shares {
  hot: number;
  cold: number;
  list: number;
  writes: number;
}

const hotLinks = 100;
/** A full page. */
const listed = 100;

/**
 * Prepares a mixed load: a full page of tasks, and hot links that the expander remembers.
 *
 * @param added what the load writes, such as `25 a second for 30 s`.
 * @param rate links a second, as for `prepareLinks`.
 */
export function prepareMixedLoad(added: string, rate: number) {
  const { session, titlePrefix } = openTaskList(`${listed} tasks, then ${added}`);
  const links = prepareLinks(hotLinks, rate);
  importTasks(titlePrefix, listed);
  return { session, titlePrefix, ...links };
}

export type MixedLoad = ReturnType<typeof prepareMixedLoad>;

/** Sends the next request of the mix. `phase` tags it and the control's. */
export function sendMixedRequest(load: MixedLoad, shares: Shares, phase: string) {
  const { session, titlePrefix, run, share } = load;
  askControl({ phase });
  const i = requestNumber(share);
  if (i === undefined) return;
  const kind = kindOf(i, shares);
  const tags = { name: kind, kind, phase };
  const requests = {
    hot: () => get(apiUrl(hotLink(run, i % hotLinks)), tags),
    cold: () => get(apiUrl(`/chain/2?id=${run}-${i}`), tags),
    list: () => get(`${stack.tasks}/`, tags),
    writes: () => addTask(session, `${titlePrefix} ${i}`, tags),
  };
  check(requests[kind](), { 'the response is right': (r) => r.status === (kind === 'writes' ? 302 : 200) });
}

/** The kinds in their shares, evenly spread: multiples of the golden ratio fill the range from 0 to 1. */
function kindOf(i: number, { hot, cold, list, writes }: Shares): keyof Shares {
  const kinds = { hot, cold, list, writes };
  let left = ((i * 0.618_033_988_75) % 1) * (hot + cold + list + writes);
  for (const [kind, share] of Object.entries(kinds)) {
    left -= share;
    if (left < 0) return kind as keyof Shares;
  }
  return 'hot';
}
