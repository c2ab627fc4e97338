import { writeFileSync } from 'node:fs';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { describe, expect, test } from 'vitest';
import { cookieOf, type Service, sendForm, useService } from '../testing/service.ts';

const files = {
  TASKS_PASSWORD_FILE: textFile('pass-word-1\n'),
  TASKS_TOKENS_FILE: textFile('\nbackup.night  t0ken-1\r\nphone t0ken-2'),
};
const kept = useService(files);

const logIn = async ({ url }: Service, password: string) =>
  cookieOf(await sendForm(await fetch(`${url}login`), `${url}login`, { password }));

const status = async ({ url }: Service, headers: Record<string, string>) =>
  (await fetch(url, { headers: { Accept: 'application/json', ...headers } })).status;

describe('A list with a password', () => {
  test('logs the names of tokens, but not tokens or passwords', async () => {
    const { service } = kept;
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

  test('reads a whole import before returning 401, so that the client receives the response', async () => {
    const body = new Blob([Buffer.alloc(20 * 1024 ** 2, 'x\n')]);
    const headers = { 'Content-Type': 'text/plain', Accept: 'application/json' };
    const response = await fetch(`${kept.service.url}tasks/import`, { method: 'POST', headers, body });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'not_logged_in' });
  });
});

test('A changed password or token file takes effect within seconds, unless it is invalid', async () => {
  const { service } = kept;
  const soon = { timeout: 8_000, interval: 200 };
  const Cookie = await logIn(service, 'pass-word-1');
  writeFileSync(files.TASKS_TOKENS_FILE, 'one second');
  const bearer = (token: string) => status(service, { Authorization: `Bearer ${token}` });
  await expect.poll(() => bearer('second'), soon).toBe(200);
  expect([await bearer('t0ken-1'), await status(service, { Cookie })]).toEqual([401, 200]);

  writeFileSync(files.TASKS_PASSWORD_FILE, '');
  const invalid = () => service.log.find(({ level }) => level === 'error');
  await expect.poll(invalid, soon).toMatchObject({
    msg: 'TASKS_PASSWORD_FILE changed and is invalid: the old content still applies',
  });
  expect(await status(service, { Cookie })).toBe(200);
  writeFileSync(files.TASKS_PASSWORD_FILE, 'new password');
  await expect.poll(() => status(service, { Cookie }), soon).toBe(401);
  expect(await status(service, { Cookie: await logIn(service, 'new password') })).toBe(200);
});
