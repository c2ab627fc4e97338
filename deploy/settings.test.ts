import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { expect, test } from 'vitest';
import { certificateFaults, readSettings, stackFaults, warningsAbout } from './settings.ts';

const folder = testFolder();

const names = { LONGHAND_EXPANDER_NAME: 'expand.example.org', LONGHAND_TASKS_NAME: 'tasks.example.org' };
const tls = { ...names, LONGHAND_CERTIFICATES: folder };
const certify = async (name: string) => {
  const { key, cert } = await testCertificate(name);
  writeFileSync(join(folder, 'privkey.pem'), key);
  writeFileSync(join(folder, 'fullchain.pem'), cert);
};

test.each<[env: Record<string, string>, ...faults: string[]]>([
  [{ LONGHAND_PORT: '8082' }, 'LONGHAND_TASKS_PORT=8082: is the same as LONGHAND_PORT'],
  [
    { ...tls, LONGHAND_HTTP_PORT: '8443', LONGHAND_HTTPS_PORT: '8443' },
    'LONGHAND_HTTPS_PORT=8443: is the same as LONGHAND_HTTP_PORT',
  ],
  [{ ...tls, LONGHAND_PORT: '80' }, 'LONGHAND_HTTP_PORT=80: is the same as LONGHAND_PORT'],
  [{ ...tls, LONGHAND_TASKS_PORT: '8443' }, 'LONGHAND_TASKS_PORT=8443: nginx uses this port for TLS'],
  [
    { LONGHAND_EXPANDER_NAME: 'NAS.lan', LONGHAND_TASKS_NAME: 'nas.lan' },
    'LONGHAND_TASKS_NAME=nas.lan: is the same as LONGHAND_EXPANDER_NAME',
  ],
  [
    { ...tls, LONGHAND_TASKS_NAME: '' },
    'LONGHAND_CERTIFICATES: also set LONGHAND_EXPANDER_NAME and LONGHAND_TASKS_NAME',
  ],
  [
    { LONGHAND_HTTP_PORT: '80-81', LONGHAND_HTTPS_PORT: '0' },
    'LONGHAND_HTTP_PORT=80-81: is not a whole number',
    'LONGHAND_HTTPS_PORT=0: is not from 1 to 65535',
  ],
])('rejects %o', (env, ...faults) => {
  expect(stackFaults(env)).toEqual(faults);
});

test('LONGHAND_CERTIFICATES needs a certificate with its key', async () => {
  expect(stackFaults({ LONGHAND_PORT: '80', LONGHAND_TASKS_PORT: '8443' })).toEqual([]);
  const missing = 'LONGHAND_CERTIFICATES: ENOENT: no such file or directory, open ';
  expect(certificateFaults(tls)).toEqual([expect.stringContaining(missing)]);
  await certify('a.example');
  copyFileSync(join(folder, 'privkey.pem'), join(folder, 'former.pem'));
  await certify('b.example');
  expect(certificateFaults(tls)).toEqual([]);
  copyFileSync(join(folder, 'former.pem'), join(folder, 'privkey.pem'));
  expect(certificateFaults(tls)).toEqual(['LONGHAND_CERTIFICATES: privkey.pem does not match fullchain.pem']);
});

test('rejects an unreadable EXPANDER_KEYS_FILE', async () => {
  const env = { EXPANDER_KEYS_FILE: join(folder, 'none') };
  await expect(readSettings(env)).rejects.toThrow(/none: cannot be read/);
});

test('the settings check says that it could not read a certificate that only the proxy can read', async () => {
  await certify('a.example');
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'privkey.pem'), 0o000);
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(1000);
  try {
    expect(certificateFaults(tls)).toEqual([]);
    expect(warningsAbout({ ...tls, TASKS_PASSWORD_FILE: 'password' }, 'in containers')).toEqual([
      expect.stringMatching(/^LONGHAND_CERTIFICATES: user \d+ cannot read the files/),
    ]);
  } finally {
    if (root) process.seteuid?.(0);
    rmSync(join(folder, 'privkey.pem'));
  }
});

test('warns about valid but surprising settings', async () => {
  await certify('expand.example.org');
  const env = {
    ...tls,
    LONGHAND_BIND: '::',
    LONGHAND_REPLICAS: '2',
    TASKS_PASSWORD_FILE: 'password',
    TASKS_REDIS_URL: 'redis://redis.example',
  };
  expect(warningsAbout(env, 'in containers')).toEqual([
    'LONGHAND_REPLICAS has no effect in containers.',
    'LONGHAND_BIND=::: without an IPv6 network, all clients share one address.',
    'LONGHAND_CERTIFICATES: the certificate is not valid for tasks.example.org.',
  ]);
  expect(warningsAbout(env, 'natively')).toEqual([
    'LONGHAND_CERTIFICATES has no effect natively.',
    'TASKS_REDIS_URL has no effect natively.',
  ]);
});

test.each<[env: Record<string, string>, warnings: number]>([
  [{}, 0],
  [{ LONGHAND_BIND: '127.1.2.3' }, 0],
  [{ LONGHAND_BIND: '::1' }, 0],
  [{ LONGHAND_BIND: '0.0.0.0' }, 1],
  [{ LONGHAND_BIND: '192.168.1.5' }, 1],
  [{ LONGHAND_BIND: '::' }, 1],
  [{ LONGHAND_FRONT: '10.0.0.0/8' }, 1],
  [{ LONGHAND_BIND: '0.0.0.0', TASKS_PASSWORD_FILE: 'password' }, 0],
])('warns if other machines can reach a list without a password: %j, %i', (env, count) => {
  const found = warningsAbout(env, 'natively').filter((text) =>
    text.startsWith('The task list has no password'),
  );
  expect(found).toHaveLength(count);
});

test('each service checks only its own variables', async () => {
  const env = { HOST: 'none', PORT: 'none', EXPANDER_REDIS_URL: 'unix:/redis.sock', LONGHAND_BIND: '' };
  expect(await readSettings(env)).toMatchObject({ LONGHAND_BIND: '127.0.0.1', LONGHAND_REPLICAS: 1 });
  const faults = ['EXPANDER_COLOUR', 'TASKS_COLOUR'].map((name) => `${name}: unknown variable`);
  const read = readSettings({ EXPANDER_COLOUR: 'red', TASKS_COLOUR: 'red' });
  await expect(read).rejects.toThrow(['Invalid environment:', ...faults].join('\n  '));
});
