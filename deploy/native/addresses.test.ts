import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { Runner } from '../testing/runner.ts';
import { addressesOf } from './addresses.ts';

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');

describe('LONGHAND_BIND', { timeout: 120_000 }, () => {
  const runner = new Runner();

  test.each([
    ['127.0.0.1', { listen: ['127.0.0.1'], host: '127.0.0.1', localhost: true, everywhere: false }],
    ['127.0.0.2', { listen: ['127.0.0.2'], host: '127.0.0.2', localhost: false, everywhere: false }],
    ['192.168.1.5', { listen: ['192.168.1.5'], host: '192.168.1.5', localhost: false, everywhere: false }],
    ['0.0.0.0', { listen: ['0.0.0.0'], host: '127.0.0.1', localhost: true, everywhere: true }],
    ['::1', { listen: ['[::1]'], host: '[::1]', localhost: true, everywhere: false }],
    ['::', { listen: ['0.0.0.0', '[::]'], host: '127.0.0.1', localhost: true, everywhere: true }],
    ['0:0::0', { listen: ['0.0.0.0', '[::]'], host: '127.0.0.1', localhost: true, everywhere: true }],
    [
      '2001:db8::1',
      { listen: ['[2001:db8::1]'], host: '[2001:db8::1]', localhost: false, everywhere: false },
    ],
  ])('%s', (bind, addresses) => {
    expect(addressesOf(bind)).toEqual(addresses);
  });

  test.runIf(hasIPv6)('of :: serves both families, and the output has addresses to click', async () => {
    const { output } = await runner.up({ LONGHAND_BIND: '::' });
    for (const port of Object.values(runner.ports)) {
      await runner.isServed(port, '127.0.0.1');
      await runner.isServed(port, '[::1]');
    }
    expect(output()).toContain(`http://localhost:${runner.ports.LONGHAND_TASKS_PORT}/`);
    expect(output()).toContain('every address of this machine');
    expect(output()).not.toContain('[::]');
  });

  test('of an address that localhost does not lead to is what the output shows', async () => {
    const { output } = await runner.up({ LONGHAND_BIND: '127.0.0.2' });
    await runner.isServed(runner.ports.LONGHAND_TASKS_PORT, '127.0.0.2');
    expect(output()).toContain(`  tasks      http://127.0.0.2:${runner.ports.LONGHAND_TASKS_PORT}/\n`);
  });
});
