import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const scripts = join(import.meta.dirname, 'scripts');
const root = join(import.meta.dirname, '..');
const local = join(root, '.local', 'bin');
const version = 'v1.8.1';
const image = 'grafana/k6';

/** The words that k6 begins with on a command line, given the variables that its script reads. */
export type K6 = (env: Record<string, string>) => string[];

/**
 * How k6 is had on this machine: on the PATH, from an earlier installation, as Docker's image, or
 * installed with Go into `.local/`, which takes about two minutes, once.
 *
 * @throws Error that says how to get it.
 */
export async function findK6(say: (sentence: string) => void): Promise<K6> {
  const found = await installedK6();
  if (found) return found;
  if ((await works('docker', 'image', 'inspect', image)) || (await works('docker', 'pull', image)))
    return inDocker;
  if (await works('go', 'version')) {
    say(`Installing k6 ${version} with Go into .local/bin: about two minutes, once.`);
    await mkdir(local, { recursive: true });
    await run('go', ['install', `go.k6.io/k6@${version}`], { env: { ...process.env, GOBIN: local } });
    return () => [join(local, 'k6')];
  }
  throw new Error(
    'There is no k6 on this machine: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/), ' +
      'or Docker, or Go, with which this command installs it by itself.',
  );
}

/** The k6 that is on the PATH or was installed into `.local/` before, if any. */
export async function installedK6(): Promise<K6 | undefined> {
  for (const command of ['k6', join(local, 'k6')]) {
    if (await works(command, 'version')) return () => [command];
  }
  return undefined;
}

const inDocker: K6 = (env) => [
  ...['docker', 'run', '--rm', '--network', 'host', '--user', `${process.getuid?.()}:${process.getgid?.()}`],
  ...[import.meta.dirname, env.LOAD_OUT].flatMap((folder) => ['--volume', `${folder}:${folder}`]),
  ...['--workdir', import.meta.dirname],
  ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  image,
];

/**
 * Runs `scripts/<name>.ts`, with k6's own HTML report beside the ones that the script writes, and resolves
 * with k6's exit code: 0 where every threshold held, 99 where one did not, another on trouble of its own.
 *
 * @param out the folder of the reports.
 * @param variables what the script reads from its environment.
 * @param write gets k6's output as it comes.
 */
export async function runScript(
  k6: K6,
  name: string,
  out: string,
  variables: Record<string, string>,
  write: (text: string) => void,
): Promise<number | null> {
  await mkdir(out, { recursive: true });
  const { LOAD_PROFILE = 'full', SOAK_SECONDS = '' } = process.env;
  const env = {
    LOAD_PROFILE,
    SOAK_SECONDS,
    ...variables,
    LOAD_OUT: out,
    K6_WEB_DASHBOARD: 'true',
    // No page to look at during the run, and a point a second: with k6's ten, a short run has no report.
    K6_WEB_DASHBOARD_PORT: '-1',
    K6_WEB_DASHBOARD_PERIOD: '1s',
    K6_WEB_DASHBOARD_EXPORT: join(out, `${name}.html`),
  };
  const [command = '', ...begin] = k6(env);
  // No progress bar, nothing leaves the machine, and nothing listens.
  const options = ['--quiet', '--no-usage-report', '--address='];
  const child = spawn(command, [...begin, 'run', ...options, join(scripts, `${name}.ts`)], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write);
  const [code] = await once(child, 'close');
  return code;
}

const run = promisify(execFile);

const works = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args).then(
    () => true,
    () => false,
  );
