import { textFile } from '@longhand/shared/testing/text-file.ts';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('the defaults apply without variables', () => {
  expect(readConfig({})).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 3000,
    OPS_PORT: 9464,
    REDIS_URL: 'redis://127.0.0.1:6379/0',
  });
});

test('reports all unknown variables and invalid values together', () => {
  const read = () => readConfig({ TASKS_COLOUR: 'red', PORT: '99999', REDIS_URL: 'http://x' });
  expect(read).toThrow(/TASKS_COLOUR/);
  expect(read).toThrow(/PORT=99999/);
  expect(read).toThrow(/REDIS_URL=http:\/\/x/);
});

const read = (password: string, tokens?: string) => () =>
  readConfig({
    TASKS_PASSWORD_FILE: textFile(password),
    ...(tokens && { TASKS_TOKENS_FILE: textFile(tokens) }),
  });

test.each<[string, string | RegExp]>([
  ['secret', 'secret'],
  ['secret\n', 'secret'],
  [' two words \r\n', ' two words '],
  ['', /TASKS_PASSWORD_FILE=.*: has to contain one line/],
  ['\n', /TASKS_PASSWORD_FILE=.*: has to contain one line/],
  ['secret\n\n', /TASKS_PASSWORD_FILE=.*: has to contain one line/],
])('a file %j has the password, or the error, %j', (text, found) => {
  if (found instanceof RegExp) expect(read(text)).toThrow(found);
  else expect(read(text)().TASKS_PASSWORD_FILE).toBe(found);
});

test('each token has a name; an error names the invalid line without its content', () => {
  const good = read('secret', 'backup t0ken\n\nme@phone.home \t x+/=\r\n')();
  expect(good.TASKS_TOKENS_FILE).toEqual([
    { name: 'backup', token: 't0ken' },
    { name: 'me@phone.home', token: 'x+/=' },
  ]);
  const bad = read('secret', 'backup t0ken\nt0ken-alone\nthree t0ken words');
  expect(bad).toThrow(/TASKS_TOKENS_FILE=.*: line 2 is not NAME TOKEN/);
  expect(bad).not.toThrow(/t0ken/);
});

test('missing files and tokens without a password are errors', () => {
  expect(() => readConfig({ TASKS_PASSWORD_FILE: '/none' })).toThrow(/=\/none: cannot be read \(ENOENT\)/);
  expect(() => readConfig({ TASKS_TOKENS_FILE: textFile('a b') })).toThrow(/needs TASKS_PASSWORD_FILE/);
});
