import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { Runner } from '../testing/runner.ts';
import { addressesOf } from './addresses.ts';

const interfaces = Object.entries(networkInterfaces()).flatMap(([name, found = []]) =>
  found.map((address) => ({ name, ...address })),
);
const hasIPv6 = interfaces.some(({ address }) => address === '::1');
/** Where other machines may find this one. */
const addresses = interfaces
  .filter(({ name, family, internal }) => family === 'IPv4' && !internal && !/^(docker|br-|veth)/.test(name))
  .map(({ address }) => address);

describe('LONGHAND_BIND', { timeout: 120_000 }, () => {
  const runner = new Runner();

  test.each([
    ['127.0.0.1', { listen: ['127.0.0.1'], host: '127.0.0.1', bind: '127.0.0.1' }],
    ['127.0.0.2', { listen: ['127.0.0.2'], host: '127.0.0.2', bind: '127.0.0.2' }],
    ['192.168.1.5', { listen: ['192.168.1.5'], host: '192.168.1.5', bind: '192.168.1.5' }],
    ['0.0.0.0', { listen: ['0.0.0.0'], host: '127.0.0.1', bind: '0.0.0.0' }],
    ['::1', { listen: ['[::1]'], host: '[::1]', bind: '[::1]' }],
    ['::', { listen: ['0.0.0.0', '[::]'], host: '127.0.0.1', bind: '0.0.0.0' }],
    ['0:0::0', { listen: ['0.0.0.0', '[::]'], host: '127.0.0.1', bind: '0.0.0.0' }],
    ['2001:db8::1', { listen: ['[2001:db8::1]'], host: '[2001:db8::1]', bind: '[2001:db8::1]' }],
  ])('%s', (bind, addresses) => {
    expect(addressesOf(bind)).toEqual(addresses);
  });

  test.runIf(hasIPv6)('of :: serves both families, and the output has addresses to click', async () => {
    const { output } = await runner.up({ LONGHAND_BIND: '::' });
    for (const port of Object.values(runner.ports)) {
      await runner.isServed(port, '127.0.0.1');
      await runner.isServed(port, '[::1]');
    }
    const { LONGHAND_TASKS_PORT: port } = runner.ports;
    const hosts = [...output().matchAll(new RegExp(`http://(\\S+):${port}/`, 'g'))].map(([, host]) => host);
    expect(hosts).toEqual(['localhost', ...addresses.filter((address) => hosts.includes(address))]);
    expect(hosts.length > 1).toBe(addresses.length > 0);
    for (const host of hosts) await runner.isServed(port, host);
    expect(output().match(/warn: The task list has no password.* TASKS_PASSWORD_FILE .*\n/g)).toHaveLength(1);
  });
});
