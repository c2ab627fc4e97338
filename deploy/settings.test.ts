import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, expect, test } from 'vitest';
import { checkCertificate, checkKeys, readSettings, warningsAbout } from './settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const names = { LONGHAND_EXPANDER_NAME: 'expand.example.org', LONGHAND_TASKS_NAME: 'tasks.example.org' };
const tls = { ...names, LONGHAND_CERTIFICATES: folder };
const certify = async (name: string) => {
  const { key, cert } = await testCertificate(name);
  writeFileSync(join(folder, 'privkey.pem'), key);
  writeFileSync(join(folder, 'fullchain.pem'), cert);
};

test.each([
  [{ LONGHAND_PORT: '8082' }, 'LONGHAND_TASKS_PORT=8082: is also LONGHAND_PORT'],
  [
    { ...tls, LONGHAND_HTTP_PORT: '8443', LONGHAND_HTTPS_PORT: '8443' },
    'LONGHAND_HTTPS_PORT=8443: is also LONGHAND_HTTP_PORT',
  ],
  [{ ...tls, LONGHAND_PORT: '80' }, 'LONGHAND_HTTP_PORT=80: is also LONGHAND_PORT'],
  [{ ...tls, LONGHAND_TASKS_PORT: '8443' }, 'LONGHAND_TASKS_PORT=8443: nginx listens there for HTTPS'],
  [
    { LONGHAND_EXPANDER_NAME: 'NAS.lan', LONGHAND_TASKS_NAME: 'nas.lan' },
    'LONGHAND_TASKS_NAME=nas.lan: is also LONGHAND_EXPANDER_NAME',
  ],
  [
    { ...tls, LONGHAND_TASKS_NAME: '' },
    'LONGHAND_CERTIFICATES: also set LONGHAND_EXPANDER_NAME and LONGHAND_TASKS_NAME',
  ],
  [
    { LONGHAND_HTTP_PORT: '80-81', LONGHAND_HTTPS_PORT: '0' },
    'LONGHAND_HTTP_PORT=80-81: is not a whole number\n  LONGHAND_HTTPS_PORT=0: is not from 1 to 65535',
  ],
])('%o is refused', (env, fault) => {
  expect(() => readSettings(env)).toThrow(new Error(`Invalid environment:\n  ${fault}`));
});

test('ports of HTTPS matter only with a certificate, which needs its key', async () => {
  expect(() => readSettings({ LONGHAND_PORT: '80', LONGHAND_TASKS_PORT: '8443' })).not.toThrow();
  const missing = 'LONGHAND_CERTIFICATES: ENOENT: no such file or directory, open ';
  expect(() => readSettings(tls, checkCertificate)).toThrow(missing);
  await certify('a.example');
  copyFileSync(join(folder, 'privkey.pem'), join(folder, 'former.pem'));
  await certify('b.example');
  expect(() => readSettings(tls, checkCertificate)).not.toThrow();
  copyFileSync(join(folder, 'former.pem'), join(folder, 'privkey.pem'));
  const other = 'LONGHAND_CERTIFICATES: privkey.pem is not the key of fullchain.pem';
  expect(() => readSettings(tls, checkCertificate)).toThrow(other);
});

test('a bad line of the keys is refused by its number, and so is a missing file', () => {
  const read = (file: string) => () => readSettings({ EXPANDER_TOKENS_FILE: file }, checkKeys);
  expect(read(textFile(`alice ${'a'.repeat(16)} 10r/s`))).not.toThrow();
  expect(read(textFile('alice secret 10r/s'))).toThrow(/: line 1 is not a name of a-z/);
  expect(read(join(folder, 'none'))).toThrow(/none: cannot be read/);
});

test('what works but surprises is a warning', async () => {
  await certify('expand.example.org');
  const env = {
    ...tls,
    LONGHAND_BIND: '::',
    LONGHAND_REPLICAS: '2',
    TASKS_REDIS_URL: 'redis://redis.example',
  };
  expect(warningsAbout(env, 'in containers')).toEqual([
    'LONGHAND_REPLICAS has no effect in containers.',
    'LONGHAND_BIND=::: without an IPv6 network, all clients have one address.',
    'LONGHAND_CERTIFICATES: the certificate is not for tasks.example.org.',
  ]);
  expect(warningsAbout(env, 'natively')).toEqual([
    'LONGHAND_CERTIFICATES has no effect natively.',
    'TASKS_REDIS_URL has no effect natively.',
  ]);
});
