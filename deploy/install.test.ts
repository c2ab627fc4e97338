import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { docker, engineAnswers } from '@longhand/shared/testing/engine.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { freeStackPorts } from './testing/stack-ports.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
/** Lines of code that `pattern` matches, without what is said of them. */
const code = (pattern: RegExp) =>
  [...page.matchAll(/^ {4}(.+?)(?: {3,}#.*)?$/gm)]
    .map(([, line = '']) => line)
    .filter((line) => pattern.test(line));

describe.runIf(await engineAnswers())('Installed as it says', { timeout: 300_000 }, () => {
  test('the stack starts, stops and keeps only its volumes, starts again with its tasks, believes its front at the fixed address, and is saved and restored', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-install-'));
    const project = `longhand-test-${randomBytes(4).toString('hex')}`;
    // A range of this test's own.
    const here = (text: string) => text.replaceAll('10.80.80.', `10.${range}.`);
    const range = `${randomInt(100, 200)}.${randomInt(256)}`;
    const [, override = ''] = /^( {4}services:\n(?: {4}.*\n)+)/m.exec(page) ?? [];
    const { services, networks } = parse(here(override.replace(/^ {4}/gm, '')));
    writeFileSync(join(folder, 'compose.override.yaml'), JSON.stringify({ networks }));
    writeFileSync(join(folder, '.env'), here(code(/^LONGHAND_(FRONT|.*_NAME|API_RATE)=/).join('\n')));
    const { variables } = await freeStackPorts();
    const env = {
      ...process.env,
      ...variables,
      COMPOSE_PROJECT_NAME: project,
      COMPOSE_FILE: [join(root, 'docker-compose.yml'), join(folder, 'compose.override.yaml')].join(':'),
      COMPOSE_ENV_FILES: join(folder, '.env'),
    };
    const run = async (command: string) => {
      const { stdout } = await promisify(execFile)('bash', ['-ec', command], { cwd: folder, env });
      return stdout;
    };
    onTestFinished(async () => {
      await run('docker compose down --volumes --rmi local');
      rmSync(folder, { recursive: true });
    });

    // One does not end, and one asks a registry.
    const commands = code(/^(docker compose|0 3) /)
      .filter((command) => !/--follow$| pull$/.test(command))
      .map((command) => command.replace('0 3 * * * cd /srv/longhand', `cd ${folder}`));
    expect(commands).toHaveLength(15);
    const [, saved = ''] = /<(\S+)/.exec(commands.join('\n')) ?? [];
    const tasks = `http://127.0.0.1:${variables.LONGHAND_TASKS_PORT}/tasks`;
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const ours = (kind: string) =>
      run(`docker ${kind} --quiet --filter label=com.docker.compose.project=${project}`);
    for (const [i, command] of commands.entries()) {
      if (i === commands.indexOf('docker compose down'))
        await fetch(tasks, { method: 'POST', headers: json, body: '{"title":"kept"}' });
      await run(command);
      if (command.startsWith('cd')) {
        const [made = '', ...more] = readdirSync(join(folder, 'backups'));
        expect([made, more]).toEqual([expect.stringMatching(/^tasks-\d{8}T\d{6}Z\.rdb$/), []]);
        expect(statSync(join(folder, 'backups', made)).mode & 0o777).toBe(0o600);
        renameSync(join(folder, 'backups', made), join(folder, saved));
      }
      if (!command.endsWith('down')) continue;
      expect([await ours('ps --all'), await ours('network ls')]).toEqual(['', '']);
      const volumes = ['expander-cache-password', 'tasks', 'tasks-store-password'];
      expect(await ours('volume ls')).toBe(volumes.map((name) => `${project}_${name}\n`).join(''));
    }
    expect(await (await fetch(tasks, { headers: json })).json()).toMatchObject({
      tasks: [{ title: 'kept' }],
    });

    const ids = (await run('docker compose ps --quiet')).trim().split('\n');
    expect(ids).toHaveLength(5);
    const restarts = await docker('inspect', '--format', '{{.HostConfig.RestartPolicy.Name}}', ...ids);
    expect(new Set(restarts.trim().split('\n'))).toEqual(new Set(['unless-stopped']));

    const address = services.caddy.networks.front.ipv4_address;
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-User': 'ada' };
    const visit = `fetch('http://proxy:${variables.LONGHAND_PORT}/docs/install', ${JSON.stringify({ headers })}).then(({ status }) => console.log(status))`;
    const front = [
      'run',
      '--rm',
      '--network',
      `${project}_front`,
      '--ip',
      address,
      'node:26.10.0-trixie-slim',
    ];
    expect((await docker(...front, 'node', '-e', visit)).trim()).toBe('200');
    const log = () => run('docker compose logs --no-log-prefix proxy');
    await expect.poll(log).toMatch(/"path":"\/docs\/install".*"client":"203\.0\.113\.7".*"user":"ada"/);

    // HTTPS, by the same page's names and a certificate alone.
    const { plain, tls } = await freePorts('plain', 'tls');
    const [name = ''] = code(/^LONGHAND_TASKS_NAME=tasks/).map((line) => line.replace(/.*=/, ''));
    const { key, cert } = await testCertificate(name);
    mkdirSync(join(folder, 'tls'));
    for (const [file, text] of Object.entries({ 'privkey.pem': key, 'fullchain.pem': cert }))
      writeFileSync(join(folder, 'tls', file), text, { mode: 0o644 });
    Object.assign(env, {
      LONGHAND_CERTIFICATES: join(folder, 'tls'),
      LONGHAND_HTTP_PORT: plain,
      LONGHAND_HTTPS_PORT: tls,
    });
    await run('docker compose up --detach --wait');
    const secure = `curl --silent --cacert tls/fullchain.pem --connect-to ::127.0.0.1: https://${name}:${tls}/tasks -H Accept:application/json`;
    expect(await run(secure)).toContain('"title":"kept"');
    const redirect = `curl --silent -o redirected -w '%{redirect_url}' -H Host:${name} http://127.0.0.1:${plain}/tasks`;
    expect(await run(redirect)).toBe(`https://${name}:${tls}/tasks`);
  });
});
