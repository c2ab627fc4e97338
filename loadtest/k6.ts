import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from './package.json' with { type: 'json' };

const scripts = join(import.meta.dirname, 'scripts');
const localBin = join(import.meta.dirname, '..', '.local', 'bin');
const { k6: version } = manifest.config;
const image = 'grafana/k6';

/** Returns the command line prefix that runs k6 with the given environment. */
export type K6 = (env: Record<string, string>) => string[];

/**
 * Finds k6: on the PATH, in `.local/`, or as a Docker image; otherwise installs it with Go into `.local/`, once, which
 * takes about two minutes.
 *
 * @throws Error that says how to get it.
 */
export async function findK6(log: (message: string) => void): Promise<K6> {
  const installed = await installedK6();
  if (installed) return installed;
  if ((await succeeds('docker', 'image', 'inspect', image)) || (await succeeds('docker', 'pull', image))) {
    return dockerK6;
  }
  if (await succeeds('go', 'version')) {
    log(`Installing k6 ${version} with Go into .local/bin: about two minutes, once.`);
    await mkdir(localBin, { recursive: true });
    await run('go', ['install', `go.k6.io/k6@${version}`], { env: { ...process.env, GOBIN: localBin } });
    return () => [join(localBin, 'k6')];
  }
  throw new Error(
    'k6 is not installed: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/), or install Docker or ' +
      'Go, with which this command gets it by itself.',
  );
}

/** The k6 on the PATH or in `.local/`, if there is one. */
export async function installedK6(): Promise<K6 | undefined> {
  for (const command of ['k6', join(localBin, 'k6')]) {
    if (await succeeds(command, 'version')) return () => [command];
  }
  return undefined;
}

const dockerK6: K6 = (env) => [
  ...['docker', 'run', '--rm', '--network', 'host', '--user', `${process.getuid?.()}:${process.getgid?.()}`],
  ...[import.meta.dirname, env.LOAD_OUT].flatMap((folder) => ['--volume', `${folder}:${folder}`]),
  ...['--workdir', import.meta.dirname],
  ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  image,
];

/**
 * Runs `scripts/<name>.ts`. k6 writes its own HTML report to the same folder.
 *
 * @param out the folder of the reports.
 * @param variables the environment of the script.
 * @param onOutput is called with k6's output as it arrives.
 * @returns k6's exit code: 0 when every threshold passed, 99 when one failed, another when k6 itself failed.
 */
export async function runScript(
  k6: K6,
  name: string,
  out: string,
  variables: Record<string, string>,
  onOutput: (text: string) => void = () => {},
): Promise<{ code: number | null; output: string }> {
  await mkdir(out, { recursive: true });
  const { LOAD_PROFILE = 'full', SOAK_SECONDS = '' } = process.env;
  const env = {
    LOAD_PROFILE,
    SOAK_SECONDS,
    ...variables,
    LOAD_OUT: out,
    K6_WEB_DASHBOARD: 'true',
    // No live page, and one point per second: with k6's default of ten seconds a short run has no report.
    K6_WEB_DASHBOARD_PORT: '-1',
    K6_WEB_DASHBOARD_PERIOD: '1s',
    K6_WEB_DASHBOARD_EXPORT: join(out, `${name}.html`),
  };
  const [command = '', ...prefix] = k6(env);
  // No progress bar, no usage report to Grafana, no REST API.
  const options = ['--quiet', '--no-usage-report', '--address='];
  const child = spawn(command, [...prefix, 'run', ...options, join(scripts, `${name}.ts`)], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text);
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

const run = promisify(execFile);

const succeeds = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args).then(
    () => true,
    () => false,
  );
