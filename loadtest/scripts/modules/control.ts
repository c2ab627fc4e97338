import exec from 'k6/execution';
import http from 'k6/http';
import { alwaysMet } from '../../profiles.ts';
import { controlUrl } from './stack.ts';

type Thresholds = Record<string, string[]>;

/** One in this many iterations also asks the control. */
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

/** Thresholds for some of the stack's latencies. The control's go into the summary too, to compare them. */
export const latencyThresholds = (selector: string, rules: string[]): Thresholds => ({
  [`http_req_duration{${selector},target:stack}`]: rules,
  ...(controlUrl ? { [`http_req_duration{${selector},target:control}`]: [alwaysMet] } : {}),
});

/**
 * Thresholds that fail if the machine is too busy to judge the stack: they are about the control alone. Without a
 * control there are none, because k6 counts a threshold without requests as met.
 */
export const controlThresholds = (rules: string[], selector = ''): Thresholds =>
  controlUrl ? { [`http_req_duration{target:control${selector}}`]: rules } : {};
