import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import manifest from './package.json' with { type: 'json' };

const scripts = join(import.meta.dirname, 'scripts');
const localBin = join(import.meta.dirname, '..', '.local', 'bin');
/** The oldest supported version, which `ensureK6` installs. */
const version = manifest.config.k6.replace('v', '');
const run = promisify(execFile);
const searchPath = () => `${process.env.PATH}:${localBin}`;

/**
 * Installs k6 with Go into `.local/bin` if it is missing. The installation takes about two minutes.
 *
 * @throws Error that explains how to get k6.
 */
export async function ensureK6(): Promise<void> {
  if (await hasK6()) return;
  console.log(`Installing k6 ${version} with Go into .local/bin. This takes about two minutes, once.`);
  await mkdir(localBin, { recursive: true });
  await installK6().catch((error) => {
    throw new Error(
      'k6 is not installed. Install it (https://grafana.com/docs/k6/latest/set-up/install-k6/), or install Go. ' +
        error.message,
    );
  });
}

/** Compiles k6 into `.local/bin`, and prints how many of its packages are done. */
export async function installK6(): Promise<void> {
  const env = { ...process.env, GOBIN: localBin };
  // With `-v`, Go prints one line for each package.
  const child = spawn('go', ['install', '-v', `go.k6.io/k6@v${version}`], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const closed = once(child, 'close');
  let packages = 0;
  const messages: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    if (/\s/.test(line)) {
      messages.push(line);
      continue;
    }
    packages += 1;
    if (packages % 50 === 0) console.log(`Compiled ${packages} packages.`);
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(messages.slice(-5).join('\n'));
}

/** Whether k6 is installed. @throws Error if k6 is too old or does not start. */
export async function hasK6(): Promise<boolean> {
  const env = { ...process.env, PATH: searchPath() };
  const output = await run('k6', ['version'], { env }).catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`k6 did not start: ${error.stderr || error.message}`);
  });
  if (!output) return false;
  const found = /\bv(\d+\.\d+\.\d+)/.exec(output.stdout)?.[1] ?? output.stdout.trim();
  if (found.localeCompare(version, 'en', { numeric: true }) >= 0) return true;
  throw new Error(
    `k6 ${found} is older than ${version}. Update it, or remove it and let "make load" install k6.`,
  );
}

export interface ScriptRun {
  script: string;
  /** Folder for the summary and the HTML report. */
  out: string;
  variables: Record<string, string>;
  args?: readonly string[];
  /** Returns the output instead of printing it. */
  quiet?: boolean;
}

export const k6Files = { summary: 'summary.json', html: 'report.html' };

/**
 * Runs a load script with k6.
 *
 * @returns k6's exit code: 0 if every threshold passed, 99 if any failed, another code if k6 itself failed.
 */
export async function runScript({ script, out, variables, args = [], quiet = false }: ScriptRun): Promise<{
  code: number | null;
  output: string;
}> {
  await mkdir(out, { recursive: true });
  const options = [
    // Disable the usage report to Grafana and the REST API.
    ...['--no-usage-report', '--address='],
    // The new format, the default of k6 2, has no thresholds (k6 1.8.1), and the verdict needs them.
    ...['--new-machine-readable-summary=false', '--summary-export', join(out, k6Files.summary)],
    ...(quiet || !process.stdout.isTTY ? ['--quiet'] : []),
  ];
  const child = spawn('k6', ['run', ...options, ...args, join(scripts, `${script}.ts`)], {
    env: {
      K6_WEB_DASHBOARD: 'true',
      // Disable the live page. Short runs need more than one data point per ten seconds (the default).
      K6_WEB_DASHBOARD_PORT: '-1',
      K6_WEB_DASHBOARD_PERIOD: '1s',
      ...process.env,
      ...variables,
      PATH: searchPath(),
      K6_WEB_DASHBOARD_EXPORT: join(out, k6Files.html),
    },
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  });
  const closed = once(child, 'close');
  const read = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  const output = (await Promise.all(read)).join('\n');
  const [code] = await closed;
  return { code, output };
}
