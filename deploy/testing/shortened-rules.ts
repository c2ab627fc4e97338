import { rules } from '../observe/observe.ts';

/** The windows of the rules in a rehearsal: minutes and days become seconds. Thresholds stay. */
const windows: Record<string, string> = {
  '1m': '2s',
  '5m': '4s',
  '10m': '3s',
  '30m': '8s',
  '1h': '12s',
  '6h': '15s',
  '3d': '20s',
};

/** The alerts of deploy/observe/rules.yaml, which fire within seconds of their faults. */
export const shortenedRules = () =>
  rules()
    .replace(/\[(\w+)\]/g, (_, window) => `[${windows[window]}]`)
    .replace(/for: (\w+)/g, (_, window) => `for: ${windows[window]}`);
