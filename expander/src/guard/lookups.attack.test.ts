import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expectSmallDelay } from '@longhand/shared/testing/attack.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startNameServer } from '../../testing/name-server.ts';
import { expand, serviceOfTest } from '../../testing/process.ts';
import { website } from '../../testing/website.ts';

/** Runs a command in its own mount namespace, with the file `$1` mounted at `/etc/resolv.conf`. */
const script = 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"';
const withResolvConf = ['unshare', '--mount', 'sh', '-ec', script, 'sh'];

test('abandoned lookups at a silent name server do not delay other clients', async (context) => {
  // Use a random loopback address, because port 53 must be free.
  const host = `127.53.${randomInt(256)}.${randomInt(1, 255)}`;
  const wrapper = [...withResolvConf, textFile(`nameserver ${host}\n`)];
  const [command = '', ...args] = [...wrapper, 'true'];
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  context.skip(status !== 0, `a mount namespace needs root and util-linux: ${stderr}`);
  const silent = new Set<string>();
  const { close } = await startNameServer(
    ({ name }) => {
      if (name.endsWith('.quick.example')) return { addresses: ['127.0.0.1'] };
      silent.add(name);
      return 'silence';
    },
    host,
    53,
  );
  onTestFinished(close);
  const { port } = new URL(await website((_, response) => response.end()));
  const [attacked, quiet] = [await serviceOfTest(wrapper), await serviceOfTest(wrapper)];

  let links = 0;
  await expectSmallDelay(
    { attacked, quiet },
    (url) => expand(url, `http://${links++}.quick.example:${port}/`, '192.0.2.2'),
    async (over, begun) => {
      const sent: Promise<number>[] = [];
      for (; !over.aborted; await pause(10)) {
        const signal = AbortSignal.timeout(20);
        sent.push(expand(attacked.url, `http://${sent.length}.silent.example/`, '192.0.2.1', { signal }));
        // The number of open lookups has almost reached its maximum.
        if (sent.length === 250) begun();
      }
      await Promise.all(sent);
    },
  );
  expect(silent.size).toBeGreaterThan(100);
});
