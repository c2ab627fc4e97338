import { expect, test } from 'vitest';
import { isLocalName } from './serve.ts';

test.each([
  '127.0.0.1',
  '127.0.0.1:3000',
  '192.168.1.5:8082',
  '[::1]',
  '[::1]:3000',
  'localhost',
  'LOCALHOST:3000',
  'localhost.',
  'tasks.localhost:8080',
  'tasks',
  'tasks:3000',
  'desk.local',
  'metadata.google.internal',
  'tasks.home.arpa',
])('%s is a local name', (host) => {
  expect(isLocalName(host)).toBe(true);
});

test.each([
  'evil.example',
  'evil.example:3000',
  'evil.example.',
  'localhost.evil.example',
  '127.0.0.1.nip.io',
  '127.0.0.1.example:80',
  'notlocalhost.com',
  'evil.arpa',
  'xlocal.net',
  '[::1].evil.example',
  '1.2.3.4.5',
])('%s is not', (host) => {
  expect(isLocalName(host)).toBe(false);
});
