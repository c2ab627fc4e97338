import { textFile } from '@longhand/shared/testing/text-file.ts';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const read = (password: string, tokens?: string) => () =>
  readConfig({
    TASKS_PASSWORD_FILE: textFile(password),
    ...(tokens && { TASKS_TOKENS_FILE: textFile(tokens) }),
  });

test.each<[string, string | RegExp]>([
  ['secret', 'secret'],
  ['secret\n', 'secret'],
  [' two words \r\n', ' two words '],
  ['', /TASKS_PASSWORD_FILE=.*: must contain the password on a single line/],
  ['\n', /TASKS_PASSWORD_FILE=.*: must contain the password on a single line/],
  ['secret\n\n', /TASKS_PASSWORD_FILE=.*: must contain the password on a single line/],
])('the password file %j results in %j', (text, found) => {
  if (found instanceof RegExp) expect(read(text)).toThrow(found);
  else expect(read(text)().TASKS_PASSWORD_FILE).toBe(found);
});

test('readConfig() reads names and tokens from the token file without printing invalid lines', () => {
  expect(read('secret', 'backup t0ken\n\nme@phone.home \t x+/=\r\n')().TASKS_TOKENS_FILE).toEqual([
    { name: 'backup', token: 't0ken' },
    { name: 'me@phone.home', token: 'x+/=' },
  ]);
  const bad = read('secret', 'backup t0ken\nt0ken-alone\nthree t0ken words');
  expect(bad).toThrow(/TASKS_TOKENS_FILE=.*: line 2 is not NAME TOKEN/);
  expect(bad).not.toThrow(/t0ken/);
});

test('readConfig() rejects tokens without a password', () => {
  expect(() => readConfig({ TASKS_TOKENS_FILE: textFile('a b') })).toThrow(/needs TASKS_PASSWORD_FILE/);
});
