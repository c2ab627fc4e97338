import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { freeStackPorts } from '@longhand/deploy/testing/temporary-stack.ts';
import { hasEngine } from '@longhand/shared/testing/engine.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Block, shellBlocks } from './testing/blocks.ts';
import { ownNetworks } from './testing/composed.ts';

const root = join(import.meta.dirname, '..');
const blocks = shellBlocks();

/** Documents and lines that this test cannot paste, with the reason. A line is named by its beginning. */
const skipped: Record<string, string> = {
  'deploy/kubernetes/README.md': 'needs a cluster',
  'docs/BENCHMARKS.md': 'measures for minutes',
  'make up': 'runs until Ctrl-C',
  'make test': 'runs every test',
  'EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 make up NATIVE=1': 'runs until Ctrl-C',
  'npm start -w shortener': 'runs until Ctrl-C',
  'TASKS_PASSWORD_FILE=./password make up': 'runs until Ctrl-C',
  'docker compose logs --follow': 'runs until Ctrl-C',
  'make logs': 'runs until Ctrl-C',
  'curl -N': 'runs until Ctrl-C',
  'make observe': 'builds all images again',
  'docker compose --profile observe up --build': 'builds all images again',
  'live=/etc/letsencrypt': 'needs files of Certbot',
  'sudo install': 'needs files of Certbot',
  'oauth2-proxy': 'needs a provider of OpenID Connect',
  'file appendonly': 'is the content of a file',
};
const isSkipped = ({ page }: Block, line: string) =>
  Object.keys(skipped).some((key) => page === key || line.startsWith(key));
const pasted = blocks
  .map(({ page, lines }) => ({ page, lines: lines.filter((line) => !isSkipped({ page, lines }, line)) }))
  .filter(({ lines }) => lines.length > 0);

test('every document and line that is not pasted exists', () => {
  const used = (key: string) =>
    blocks.some(({ page, lines }) => page === key || lines.some((line) => line.startsWith(key)));
  expect(Object.keys(skipped).filter((key) => !used(key))).toEqual([]);
  expect(pasted.length).toBeGreaterThan(20);
});

test('printed commands that stop the stack also stop monitoring', () => {
  const downs = blocks.flatMap(({ lines }) => lines).filter((line) => / compose .*\bdown\b/.test(line));
  expect(downs.length).toBeGreaterThan(1);
  expect(downs.filter((line) => !line.includes(`docker compose --profile '*' down`))).toEqual([]);
});

describe.runIf(await hasEngine())('Every printed block, pasted twice', { timeout: 600_000 }, () => {
  const project = `longhand-test-${randomBytes(4).toString('hex')}`;
  const installation = testFolder();
  const elsewhere = testFolder();
  const programs = testFolder();
  const given = Object.entries(process.env).filter(
    ([name]) => !/^(COMPOSE|LONGHAND|EXPANDER|TASKS)_/.test(name),
  );
  const env = { ...Object.fromEntries(given), PATH: `${programs}:${process.env.PATH}` };
  let tasksUrl: string;
  let prometheusUrl: string;
  let networks: ReturnType<typeof ownNetworks>;
  let seeded: object[];
  /** Printed ports, with the ports of this test. */
  let ports: [printed: string, port: number][];

  /** Runs lines in an interactive shell's way: it reads the next line when the last command has ended. */
  async function paste(lines: readonly string[], cwd: string): Promise<string> {
    const running = promisify(execFile)('timeout', ['120', 'bash'], { cwd, env, maxBuffer: 2 ** 26 });
    running.child.stdin?.end(`${lines.join('\n')}\n`);
    const { stdout, stderr } = await running.catch((error) => error);
    return `${stdout}${stderr}`;
  }
  const here = (line: string) =>
    ports.reduce((text, [printed, port]) => text.replaceAll(printed, `${port}`), line);
  const run = (command: string) =>
    execFileSync('bash', ['-ec', command], { cwd: installation, env, encoding: 'utf8', stdio: 'pipe' });
  const start = () => run('docker compose up --detach --wait');
  async function tasks(): Promise<{ _id: string }[]> {
    // The proxy may have restarted, so no connection is used again.
    const response = await fetch(`${tasksUrl}/tasks/export?format=json`, {
      headers: { Connection: 'close' },
    });
    return (await response.json()) as { _id: string }[];
  }
  /** Provides what the documents name: a backup, and data that a restore has set aside. */
  function prepare() {
    run(`mkdir -p backups
      docker compose exec -T tasks-store redis.sh backup >backups/tasks-20261121T030000Z.rdb
      docker compose exec -T tasks-store sh -c \\
        '[ -e appendonlydir.20261121T120000Z ] || cp -r appendonlydir appendonlydir.20261121T120000Z'`);
  }

  beforeAll(async () => {
    const list = ['ls-files', '--cached', '--others', '--exclude-standard'];
    const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' });
    execFileSync('tar', ['-cf', join(programs, 'checkout.tar'), '-T', '-'], { cwd: root, input: files });
    execFileSync('tar', ['-xf', join(programs, 'checkout.tar')], { cwd: installation });
    symlinkSync(join(root, 'node_modules'), join(installation, 'node_modules'));
    copyFileSync(join(root, 'deploy/compose/check.sh'), join(installation, 'check.sh'));
    // A missing backup is told at once instead of after five minutes.
    const rules = 'deploy/observe/rules.yaml';
    run(`sed -i '/alert: BackupOld/,/for:/s/for: 5m/for: 0s/' ${rules} && grep -q 'for: 0s' ${rules}`);
    run('git init --quiet && git add --all');
    writeFileSync(join(programs, 'sudo'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
    // The services read files here as other users.
    for (const folder of [installation, elsewhere]) chmodSync(folder, 0o755);

    const { ports: own, variables, urls } = await freeStackPorts();
    const others = await freePorts('LONGHAND_PROMETHEUS_PORT', 'http', 'https');
    tasksUrl = urls.tasks;
    ports = [
      ['8080', own.LONGHAND_PORT],
      ['8081', own.LONGHAND_EXPANDER_PORT],
      ['8082', own.LONGHAND_TASKS_PORT],
      ['8090', others.http],
      ['8443', others.https],
    ];
    const { LONGHAND_PROMETHEUS_PORT } = others;
    const settings = { COMPOSE_PROJECT_NAME: project, ...variables, LONGHAND_PROMETHEUS_PORT };
    const dotenv = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(installation, '.env'), dotenv.join(''));
    const grafana = { image: `${project}-proxy`, scale: 0 };
    networks = ownNetworks(own.LONGHAND_PORT);
    prometheusUrl = `http://127.0.0.1:${LONGHAND_PROMETHEUS_PORT}`;
    const override = { networks, services: { grafana } };
    writeFileSync(join(installation, 'compose.override.yaml'), JSON.stringify(override));
    start();
    for (const title of ['first', 'second', 'third']) {
      // The proxy will restart, so no connection is used again.
      const headers = { 'Content-Type': 'application/json', Connection: 'close' };
      await fetch(`${tasksUrl}/tasks`, { method: 'POST', headers, body: JSON.stringify({ title }) });
    }
    seeded = await tasks();
    expect(seeded).toHaveLength(3);
  }, 600_000);
  afterAll(() => {
    run("docker compose --profile '*' down --volumes --rmi local");
  });

  test.each(pasted.map(({ page, lines }) => ({ page, lines, first: lines[0] })))(
    '$page: $first',
    async ({ lines }) => {
      prepare();
      const block = lines.map(here);
      let output = '';
      for (const folder of [installation, elsewhere, installation, elsewhere])
        output += await paste(block, folder);
      start();
      expect(await tasks(), output).toEqual(expect.arrayContaining(seeded));
    },
  );

  test('nothing that a block writes shows up in git', () => {
    expect(run('git ls-files --others --exclude-standard')).toBe('');
  });

  test('a backup appears by itself, and LONGHAND_NOTIFY hears of a missing one, and of its successor', async () => {
    const messages: string[] = [];
    const receiver = createServer(async (request, response) => {
      const { status, commonLabels } = JSON.parse(await text(request));
      if (commonLabels.alertname === 'BackupOld') messages.push(status);
      response.end();
    });
    onTestFinished(() => cutOff(receiver));
    const [{ subnet } = { subnet: '' }] = networks.alerting?.ipam.config ?? [];
    const gateway = subnet.replace(/(\d+)\/28$/, (_, last) => `${Number(last) + 1}`);
    const url = `http://${gateway}:${await listening(receiver, '0.0.0.0')}`;
    run(
      `rm -rf backups; echo 'COMPOSE_PROFILES=backup,observe' >>.env; echo 'LONGHAND_NOTIFY=${url}' >>.env`,
    );
    start();
    const backups = () => readdirSync(join(installation, 'backups'));
    await expect
      .poll(backups, { timeout: 60_000 })
      .toEqual([expect.stringMatching(/^tasks-\d{8}T\d{6}Z\.rdb$/)]);
    expect(await tasks()).toEqual(expect.arrayContaining(seeded));

    const managers = async () => await (await fetch(`${prometheusUrl}/api/v1/alertmanagers`)).text();
    await expect.poll(managers, { timeout: 60_000 }).toContain('http://alerts:9093/api/v2/alerts');
    // Twenty-seven hours without a backup.
    const missed = Math.floor(Date.now() / 1_000) - 27 * 3_600;
    run(`docker compose stop backup && rm backups/*.rdb &&
      docker compose exec -T tasks-store redis.sh cli SET '{tasks}:backup' ${missed} </dev/null`);
    await expect.poll(() => messages, { timeout: 120_000, interval: 1_000 }).toEqual(['firing']);
    run('docker compose start backup');
    await expect.poll(() => messages, { timeout: 180_000, interval: 1_000 }).toEqual(['firing', 'resolved']);
  });

  test('the printed command stops everything, also monitoring', () => {
    run('docker compose --profile observe up --detach --wait');
    const [down = ''] = blocks.flatMap(({ lines }) => lines.filter((line) => line.includes("'*' down")));
    run(down);
    const label = `--filter label=com.docker.compose.project=${project}`;
    expect(run(`docker ps --all --quiet ${label}; docker network ls --quiet ${label}`)).toBe('');
  });
});
