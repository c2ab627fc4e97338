import exec from 'k6/execution';
import http from 'k6/http';
import { controlUrl } from './stack.ts';

/** One iteration in so many also asks the control. */
const every = 10;

/**
 * Asks the control, in every tenth iteration, as often as the iteration asked the stack. Its tags are those of the
 * requests that it is compared with.
 */
export function askControl(tags: Record<string, string> = {}, times = 1): void {
  if (!controlUrl || exec.scenario.iterationInTest % every !== every / 2) return;
  for (let i = 0; i < times; i += 1) {
    http.get(`${controlUrl}/`, { tags: { ...tags, name: 'control', target: 'control' } });
  }
}

/**
 * Thresholds that fail where the machine is too busy to judge the stack: they are about the control alone. None without
 * one, as k6 calls a threshold of no requests met.
 */
export const controlThresholds = (rules: string[], selector = ''): Record<string, string[]> =>
  controlUrl ? { [`http_req_duration{target:control${selector}}`]: rules } : {};
