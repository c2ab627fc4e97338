import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPart } from '@longhand/deploy/native/part.ts';
import { proxy } from '@longhand/deploy/native/parts.ts';
import { type Stack, startStack } from '@longhand/deploy/native/stack.ts';
import { freePort } from '@longhand/shared/free-port.ts';
import { overHttp } from '../http-load.ts';
import { compare } from '../measure.ts';
import type { Result } from '../report.ts';

export const title = 'Proxy: what its configuration is worth';

export async function run(): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-bench-'));
  const stack = await startStack({
    folder,
    env: {
      ...process.env,
      LONGHAND_PORT: '0',
      LONGHAND_EXPANDER_PORT: '0',
      LONGHAND_TASKS_PORT: '0',
      // Out of the way of the load.
      LONGHAND_API_RATE: '9999999r/s',
    },
    write() {},
  });
  try {
    const without = await withoutKeepAlive(stack, folder);
    try {
      const expander = pidOf(stack, 'expander');
      const contender = (name: string, origin: string, processes: Record<string, number>) =>
        overHttp({ name, url: `${origin}/api`, processes });
      return [
        await compare({
          title: 'The shortest answer of the expander (/api without a URL)',
          contenders: [
            contender('direct', stack.services.expander, { expander }),
            contender('through ours', stack.urls.expander, { expander, nginx: pidOf(stack, 'proxy') }),
            contender('without keep-alive', without.url, { expander, nginx: without.pid }),
          ],
          reference: 'direct',
          goals: [
            {
              text: 'total CPU through ours against direct',
              value: (of) =>
                (of('through ours').cpu.total?.median ?? 0) / (of('direct').cpu.expander?.median ?? 0),
              atMost: 2.4,
            },
          ],
        }),
      ];
    } finally {
      await without.stop();
    }
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const pidOf = (stack: Stack, name: string) => stack.parts.find((part) => part.name === name)?.pid as number;

/** A second nginx of the same configuration on ports of its own, less what keeps connections to the services. */
async function withoutKeepAlive(stack: Stack, folder: string) {
  const around = { folder: join(folder, 'without'), env: process.env, write() {} };
  const prefix = join(around.folder, 'proxy');
  await cp(join(folder, 'proxy', 'nginx.conf'), join(prefix, 'nginx.conf'));
  const ports = new Map<string, number>();
  for (const url of Object.values(stack.urls)) ports.set(new URL(url).port, await freePort());
  const rendered = join(folder, 'proxy', 'conf.d');
  await cp(rendered, join(prefix, 'conf.d'), { recursive: true });
  for (const name of await readdir(rendered)) {
    let text = await readFile(join(rendered, name), 'utf8');
    for (const [port, other] of ports) text = text.replaceAll(new RegExp(`:${port}\\b`, 'g'), `:${other}`);
    text = text
      .replace(/^\s+keepalive \d+;\n(\s+keepalive_\w+ \w+;\n)*/gm, '')
      .replace(/^proxy_http_version .*\n|^proxy_set_header Connection .*\n/gm, '');
    await writeFile(join(prefix, 'conf.d', name), text);
  }
  const port = ports.get(new URL(stack.urls.expander).port) as number;
  const part = await startPart(proxy({ host: '127.0.0.1', port }, around));
  return { url: `http://127.0.0.1:${port}`, pid: part.pid as number, stop: part.stop };
}
