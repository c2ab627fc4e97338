/**
 * `node loadtest/selftest.ts`: the keepalive script has to pass against a server that writes its answers in
 * two pieces, and to fail against the very same server with TCP no-delay switched off.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findK6, type K6, runScript } from './k6.ts';
import { startTwoPieces } from './split-write-server.ts';

export interface Control {
  /** k6's exit code: 0 where every threshold held, 99 where one did not. */
  code: number | null;
  /** Of all answers on a kept connection, the share that took as long as a delayed acknowledgement. */
  delayed: { get: number; post: number };
  output: string;
}

/** Runs the keepalive script, short, against the control with no-delay on or off. */
export async function control(k6: K6, noDelay: boolean): Promise<Control> {
  const server = await startTwoPieces({ noDelay });
  const out = await mkdtemp(join(tmpdir(), 'longhand-selftest-'));
  let output = '';
  try {
    const code = await runScript(
      k6,
      'keepalive',
      out,
      { LOAD_PROFILE: 'short', TASKS_URL: server.url, TASKS_DIRECT_URL: '' },
      (text) => {
        output += text;
      },
    );
    const { metrics } = JSON.parse(await readFile(join(out, 'keepalive.json'), 'utf8'));
    const share = (name: string) => metrics[`delayed_by_acknowledgement{scenario:proxy_${name}}`].values.rate;
    return { code, delayed: { get: share('get'), post: share('post') }, output };
  } finally {
    await server.close();
    await rm(out, { recursive: true });
  }
}

async function main(): Promise<void> {
  const k6 = await findK6(console.log);
  for (const { noDelay, expected } of [
    { noDelay: true, expected: 0 },
    { noDelay: false, expected: 99 },
  ]) {
    const { code, delayed, output } = await control(k6, noDelay);
    const share = (value: number) => `${(100 * value).toFixed(1)} %`;
    console.log(
      `no-delay ${noDelay ? 'on' : 'off'}: the keepalive script ${code === 0 ? 'passes' : 'fails'} (k6 ended with ${code}); ` +
        `delayed by an acknowledgement: ${share(delayed.get)} of GET, ${share(delayed.post)} of POST.`,
    );
    if (code === expected) continue;
    console.error(`${output}\nIt had to end with ${expected}.`);
    process.exitCode = 1;
  }
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
