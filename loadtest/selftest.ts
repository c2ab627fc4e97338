/**
 * `node loadtest/selftest.ts`: the keepalive script must pass against a server that sends its responses in two writes,
 * and fail against the same server with TCP no-delay off.
 */
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findK6, type K6, k6Files, runScript } from './k6.ts';
import { program } from './program.ts';
import { startSplitWriteServer } from './split-write-server.ts';

/**
 * Runs the short keepalive script against the negative control.
 *
 * @returns k6's exit code, 99 when a threshold failed, and the share of responses on open connections that took as long
 * as a delayed acknowledgement.
 */
export async function runControl(k6: K6, noDelay: boolean) {
  await using server = await startSplitWriteServer({ noDelay });
  await using out = await mkdtempDisposable(join(tmpdir(), 'longhand-selftest-'));
  const variables = { LOAD_PROFILE: 'short', TASKS_URL: server.url, TASKS_DIRECT_URL: '' };
  const result = await runScript(k6, { script: 'keepalive', out: out.path, variables, quiet: true });
  const { metrics } = JSON.parse(await readFile(join(out.path, k6Files.summary), 'utf8'));
  const share = (name: string): number => metrics[`delayed_by_acknowledgement{scenario:proxy_${name}}`].value;
  return { ...result, delayed: { get: share('get'), post: share('post') } };
}

async function main(): Promise<void> {
  const k6 = await findK6();
  for (const [noDelay, expected] of [
    [true, 0],
    [false, 99],
  ] as const) {
    const { code, delayed, output } = await runControl(k6, noDelay);
    const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
    console.log(
      `no-delay ${noDelay ? 'on' : 'off'}: the keepalive script ${code === 0 ? 'passes' : 'fails'} ` +
        `(k6 exited with ${code}); delayed by an acknowledgement: ` +
        `${percent(delayed.get)} of GET, ${percent(delayed.post)} of POST.`,
    );
    if (code === expected) continue;
    console.error(`${output}\nIt should have exited with ${expected}.`);
    process.exitCode = 1;
  }
}

if (import.meta.main) await program(main);
