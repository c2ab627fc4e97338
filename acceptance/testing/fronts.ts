import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { searchPath } from '@longhand/deploy/native/processes.ts';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';

/** Host names in deploy/fronts. */
export const frontNames = { expander: 'expand.example.org', tasks: 'tasks.example.org' };

/** Ports on 127.0.0.1, and the certificate's folder. Only Caddy uses `signOn`, the port of oauth2-proxy. */
type FrontOptions = {
  https: number;
  http: number;
  proxy: number;
  folder: string;
  signOn?: number | undefined;
};

/** Reads a file in deploy/fronts. */
const example = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../deploy/fronts', name), 'utf8');

async function caddy({ https, http, proxy, folder, signOn }: FrontOptions) {
  const global = `{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttps_port ${https}\n\thttp_port ${http}\n\tservers {\n\t\tprotocols h1 h2\n\t}\n}\n`;
  const certificates = `{\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem\n`;
  const config = example(signOn ? 'Caddyfile.sign-on' : 'Caddyfile')
    .replace(/(?<=\.example\.org )\{\n/g, certificates)
    .replaceAll(':8080', `:${proxy}`)
    .replaceAll(':4180', `:${signOn}`);
  await writeFile(join(folder, 'Caddyfile'), global + config);
  return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
}

/** Each function adapts an example to the test's ports and folder, and returns the command to run. */
const programs = {
  caddy,
  async nginx({ https, http, proxy, folder }: FrontOptions) {
    const config = example('nginx.conf')
      .replace('listen 443', `listen 127.0.0.1:${https}`)
      .replace('listen 80', `listen 127.0.0.1:${http}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${proxy}`)
      .replaceAll('/etc/ssl/longhand', folder);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((n) => `${n}_temp_path ${n};`);
    await writeFile(
      join(folder, 'nginx.conf'),
      `pid nginx.pid; events {} http { access_log off; ${paths.join(' ')}\n${config}\n}`,
    );
    const user = process.getuid?.() === 0 ? ' user root;' : '';
    return ['nginx', '-p', folder, '-e', 'stderr', '-c', 'nginx.conf', '-g', `daemon off;${user}`];
  },
  async traefik({ https, http, proxy, folder }: FrontOptions) {
    const config = example('traefik.yml')
      .replace(':443', `127.0.0.1:${https}`)
      .replace(':80', `127.0.0.1:${http}`)
      .replace('to: https', `to: ":${https}"`)
      .replace('/etc/traefik', folder)
      .replace(/certificatesResolvers:[\s\S]*/, '');
    const routes = example('traefik-longhand.yml')
      .replace(':8080', `:${proxy}`)
      .replace(/tls:\n +certResolver: .*/, 'tls: {}');
    const pair = `{certFile: ${folder}/fullchain.pem, keyFile: ${folder}/privkey.pem}`;
    await writeFile(join(folder, 'longhand.yml'), `${routes}tls: {certificates: [${pair}]}\n`);
    await writeFile(join(folder, 'traefik.yml'), config);
    return ['traefik', `--configFile=${folder}/traefik.yml`];
  },
};

export type FrontName = keyof typeof programs;

const env = () => ({ ...process.env, PATH: searchPath(process.env) });

/** Whether the program is installed. */
export const hasFront = (name: string) => !spawnSync(name, ['--version'], { env: env() }).error;

/**
 * Starts a TLS front with its example in deploy/fronts. `proxy` is the proxy's port.
 *
 * @returns the front's ports, and the certificate to trust (`ca`).
 */
export async function startFront(name: FrontName, proxy: number, signOn?: number) {
  const folder = testFolder();
  const ports = await freePorts('https', 'http');
  const { key, cert } = await testCertificate(...Object.values(frontNames));
  await writeFile(join(folder, 'privkey.pem'), key);
  await writeFile(join(folder, 'fullchain.pem'), cert);
  const [program = '', ...args] = await programs[name]({ ...ports, proxy, folder, signOn });
  const log = join(folder, 'log');
  const child = spawn('sh', ['-c', `exec "$@" >${log} 2>&1`, 'sh', program, ...args], {
    env: { ...env(), HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  while (!(await acceptsConnections({ host: '127.0.0.1', port: ports.https }))) {
    if (child.exitCode !== null) throw new Error(`${program} did not start:\n${await readFile(log, 'utf8')}`);
    await sleep(20);
  }
  return {
    ...ports,
    ca: cert,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
