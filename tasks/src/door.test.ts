import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../testing/service.ts';
import { startStore } from '../testing/store.ts';

let kept: Awaited<ReturnType<typeof startStore>>;
beforeAll(async () => {
  kept = await startStore();
});
afterAll(() => kept.stop());

async function start(password: string, more: Record<string, string> = {}) {
  const service = await startService({
    REDIS_URL: kept.url,
    TASKS_PASSWORD_FILE: textFile(password),
    ...more,
  });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return service;
}

async function logIn({ url }: Service, password: string): Promise<string> {
  const form = await fetch(`${url}login`);
  const token = (await form.text()).match(/name="_csrf" value="([^"]+)"/)?.[1] ?? '';
  const Cookie = form.headers.get('set-cookie')?.split(';')[0] ?? '';
  const body = new URLSearchParams({ password, _csrf: token });
  const response = await fetch(`${url}login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie },
    body,
  });
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

const status = async ({ url }: Service, headers: Record<string, string>) =>
  (await fetch(url, { headers: { Accept: 'application/json', ...headers } })).status;

describe('A list with a password', () => {
  test('knows a session on all replicas and after a restart, until the password is another', async () => {
    const [first, second] = [await start('open sesame\n'), await start('open sesame\r\n')];
    const Cookie = await logIn(first, 'open sesame');
    expect(Cookie).toMatch(/^login=/);
    expect([await status(first, { Cookie }), await status(second, { Cookie })]).toEqual([200, 200]);
    await first.end('SIGTERM');
    expect(await status(await start('open sesame'), { Cookie })).toBe(200);
    const changed = await start('another');
    expect(await status(changed, { Cookie })).toBe(401);
    expect(await logIn(changed, 'open sesame')).toBe('');
  });

  test('is asked for, and takes tokens, while the store is away', async () => {
    const service = await start('secret', {
      TASKS_TOKENS_FILE: textFile('backup t0ken\n'),
      REDIS_URL: 'redis://127.0.0.1:1/0',
    });
    expect(await status(service, {})).toBe(401);
    expect(await status(service, { Cookie: 'login=1.x' })).toBe(503);
    expect(await status(service, { Authorization: 'Bearer t0ken' })).toBe(503);
  });

  test('logs the name of a token, and neither tokens nor passwords', async () => {
    const service = await start('pass-word-1', {
      TASKS_TOKENS_FILE: textFile('\nbackup.night  t0ken-1\r\nphone t0ken-2'),
    });
    expect(await status(service, { Authorization: 'Bearer t0ken-1' })).toBe(200);
    expect(await status(service, { Authorization: 'Bearer t0ken-3' })).toBe(401);
    await logIn(service, 'pass-word-1');
    await logIn(service, 'pass-word-2');
    const requests = () => service.log.filter(({ msg }) => msg === 'request');
    await expect.poll(() => requests().length).toBe(6);
    expect(requests()[0]).toMatchObject({ status: 200, user: 'backup.night' });
    expect(requests()[1]).toMatchObject({ status: 401, error: 'not_logged_in' });
    expect(requests()[1]).not.toHaveProperty('user');
    expect(JSON.stringify(service.log)).not.toMatch(/pass-word|t0ken/);
  });

  test('answers an import without a session, and reads the rest, so that a client hears it', async () => {
    const service = await start('secret');
    const body = new Blob([Buffer.alloc(20 * 1024 ** 2, 'x\n')]);
    const headers = { 'Content-Type': 'text/plain', Accept: 'application/json' };
    const response = await fetch(`${service.url}tasks/import`, { method: 'POST', headers, body });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'not_logged_in' });
  });
});

describe('A list that the network may change', () => {
  const warning =
    /^Everybody in the network of this machine can read and change the task list\. .*TASKS_PASSWORD_FILE/;
  test.each<[string, Record<string, string>, number]>([
    ['0.0.0.0', {}, 1],
    ['192.168.1.5', {}, 1],
    ['::', {}, 1],
    ['127.0.0.1', {}, 0],
    ['127.1.2.3', {}, 0],
    ['::1', {}, 0],
    ['0.0.0.0', { TASKS_PASSWORD_FILE: textFile('secret') }, 0],
    ['0.0.0.0', { LONGHAND_FRONT: '10.0.0.0/8' }, 0],
  ])('is told at the start, on %s with %j: %i times', async (LONGHAND_BIND, env, times) => {
    const service = await startService({ REDIS_URL: kept.url, LONGHAND_BIND, ...env });
    onTestFinished(async () => void (await service.end('SIGKILL')));
    const said = service.log.filter(({ msg }) => warning.test(`${msg}`));
    expect(said.map(({ level }) => level)).toEqual(Array(times).fill('warn'));
  });
});
