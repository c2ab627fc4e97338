import { spawn, spawnSync } from 'node:child_process';
import { lookup } from 'node:dns';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { testCertificateOf } from '@longhand/shared/testing/certificate.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { expect, onTestFinished, test } from 'vitest';
import { connector, openSocket } from './connect.ts';
import { httpClient } from './http-client.ts';

const certificate = await testCertificateOf('rsa');
/** Debian keeps servers outside of a user's PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

interface Site {
  folder: string;
  port: number;
}

/** The commands of real servers. Each serves `/page` with 200, all other paths with 404. */
const servers: Record<string, (site: Site) => string[]> = {
  nginx({ folder, port }) {
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; user root; pid ${folder}/pid; error_log stderr crit; worker_processes 1; events {}
       http {
         access_log off; root ${folder}/site;
         server { listen 127.0.0.1:${port} ssl http2; ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key; }
       }`,
    );
    return ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  },
  caddy({ folder, port }) {
    writeFileSync(
      join(folder, 'Caddyfile'),
      `{
        admin off
        auto_https off
        servers {
          protocols h1 h2
        }
      }
      https://localhost:${port} {
        bind 127.0.0.1
        tls ${folder}/cert ${folder}/key
        root * ${folder}/site
        file_server
      }`,
    );
    return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  },
  nghttpd: ({ folder, port }) => ['-d', `${folder}/site`, `${port}`, `${folder}/key`, `${folder}/cert`],
};

test.for(['nginx', 'caddy', 'nghttpd'])(
  '2,500 requests to %s need few connections',
  { timeout: 60_000 },
  async (name, context) => {
    const isInstalled = spawnSync('sh', ['-c', `command -v ${name}`], { env }).status === 0;
    context.skip(!isInstalled, `${name} is not installed; \`make setup\` installs it`);
    const folder = mkdtempSync(join(tmpdir(), 'longhand-http2-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'site'));
    writeFileSync(join(folder, 'site', 'page'), 'A page.');
    writeFileSync(join(folder, 'key'), certificate.key);
    writeFileSync(join(folder, 'cert'), certificate.cert);
    const port = await freePort();
    const server = spawn(name, servers[name]?.({ folder, port }) ?? [], { env, stdio: 'ignore' });
    onTestFinished(() => void server.kill());
    await expect.poll(() => acceptsConnections({ host: '127.0.0.1', port })).toBe(true);

    let connections = 0;
    const connect = connector(lookup, (protocol, options) => {
      connections += 1;
      return openSocket(protocol, { ...options, ca: certificate.cert });
    });
    const { request, close } = httpClient(connect);
    onTestFinished(close);
    const url = (path: string) => new URL(path, `https://localhost:${port}`);
    const send = async (method: 'HEAD' | 'GET', path: string, count: number) => {
      const statuses = new Set<unknown>();
      for (let i = 0; i < count; i += 50) {
        const options = { method, bodyLimit: () => 100 };
        const responses = Array.from({ length: 50 }, () => request(url(path), options));
        for (const { status } of await Promise.all(responses)) statuses.add(status);
      }
      return [...statuses];
    };
    for (const method of ['HEAD', 'GET'] as const) expect(await send(method, '/page', 2_500)).toEqual([200]);
    // nginx closes a connection after 1,000 requests.
    expect(connections).toBeLessThanOrEqual(6);
    // For HEAD, nghttpd sends the body of its error page.
    for (const method of ['HEAD', 'GET'] as const) expect(await send(method, '/missing', 200)).toEqual([404]);
  },
);
