import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { expect, onTestFinished, test } from 'vitest';
import { example, frontNames, hasFront, startFront } from './testing/fronts.ts';
import { startIdentityProvider } from './testing/identity-provider.ts';

const signOnProgram = 'oauth2-proxy';
const missing = ['caddy', signOnProgram].filter((program) => !hasFront(program));
const reason = missing.length > 0 ? ` (skipped: ${missing.join(' and ')} not on this machine)` : '';
const { tasks } = frontNames;

/** Starts oauth2-proxy on `port` with its example, for a front on the port `https`. */
async function startSignOn(port: number, issuer: string, https: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-sign-on-'));
  const file = join(folder, 'oauth2-proxy.cfg');
  const config = example('oauth2-proxy.cfg')
    .replace(':4180', `:${port}`)
    .replace('https://id.example.org', issuer)
    .replace(`https://${tasks}`, `https://${tasks}:${https}`);
  await writeFile(file, config);
  const secrets = { OAUTH2_PROXY_CLIENT_SECRET: 'secret', OAUTH2_PROXY_COOKIE_SECRET: '0'.repeat(32) };
  const child = spawn(signOnProgram, ['--config', file], {
    env: { PATH: process.env.PATH, ...secrets },
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    await rm(folder, { recursive: true });
  });
  await expect.poll(() => acceptsConnections({ host: '127.0.0.1', port })).toBe(true);
}

test.skipIf(missing.length > 0)(`behind single sign-on the log has the user's name${reason}`, async () => {
  await using stack = await startTemporaryStack({
    env: { LONGHAND_FRONT: '127.0.0.1/32', LONGHAND_TASKS_NAME: tasks },
  });
  const { signOn } = await freePorts('signOn');
  const front = await startFront('caddy', Number(new URL(stack.urls.proxy).port), signOn);
  onTestFinished(front.stop);
  const provider = await startIdentityProvider('ada@example.org');
  onTestFinished(provider.stop);
  await startSignOn(signOn, provider.issuer, front.https);

  const browser = await launchChromium(`--host-resolver-rules=MAP ${tasks} 127.0.0.1`);
  onTestFinished(() => browser.close());
  const page = await browser.newPage({
    ignoreHTTPSErrors: true,
    extraHTTPHeaders: { 'X-Forwarded-User': 'somebody' },
  });
  await page.goto(`https://${tasks}:${front.https}/?filter=open`);
  expect(page.url()).toBe(`https://${tasks}:${front.https}/?filter=open`);
  await expect.poll(() => page.locator('h1').textContent()).toBe('Tasks');
  const users = async () =>
    [...(await stack.accessLog()).matchAll(/"user":"([^"]*)"/g)].map(([, user]) => user);
  await expect.poll(users).toContain('ada@example.org');
  expect(await users()).not.toContain('somebody');
});
