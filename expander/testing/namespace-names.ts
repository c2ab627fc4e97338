import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createLog } from '@longhand/shared/log.ts';
import { readConfig } from '../src/config.ts';
import { createExpander } from '../src/expander.ts';
import { setUpResolver } from '../src/guard/resolver.ts';

/**
 * Runs in a network namespace of its own, whose loopback interface has these addresses: expands a URL of each name by the
 * system's resolver, and writes how each ended and which addresses were dialled as one line of JSON.
 */
const [v4, v6, private4, private6] = ['93.184.216.34', '2606:2800:220:1::1', '10.0.0.1', 'fd00::1'];
const names: Record<string, string[]> = {
  'v4.example': [v4],
  'v6.example': [v6],
  'mixed.example': [v4, private4],
  'other-family.example': [v4, private6],
  'rebound.example': [v4],
};
const hosts = (rebound: string) =>
  Object.entries({ ...names, 'rebound.example': [rebound] })
    .flatMap(([name, addresses]) => addresses.map((address) => `${address} ${name}\n`))
    .join('');
writeFileSync('/etc/hosts', hosts(v4));

const dialled: string[] = [];
for (const address of [v4, v6, private4, private6]) {
  const web = createServer(({ url, headers: { host } }, response) => {
    // The connection is closed, so that the redirect is dialled, and looked up, anew.
    response.setHeader('Connection', 'close');
    if (host === 'rebound.example') writeFileSync('/etc/hosts', hosts(private4));
    if (url === '/') response.writeHead(302, { Location: '/next' });
    response.end();
  });
  web.on('connection', () => dialled.push(address));
  await new Promise<void>((resolve) => web.listen(80, address, resolve));
}
// A name server that never answers, for the names that no file has.
const server = createSocket('udp4');
await new Promise<void>((resolve) => server.bind(53, '127.0.0.1', resolve));

setUpResolver();
const { expand } = createExpander(readConfig({}), { log: createLog('expander', 'silent') });
const ends: Record<string, unknown> = {};
for (const name of Object.keys(names)) {
  dialled.length = 0;
  const { end, redirectCount } = await expand.trace(`http://${name}/`);
  ends[name] = { end: end.code, redirectCount, dialled: [...dialled] };
}
// More names without an answer than are looked up at a time, and one that has an answer.
const leave = new AbortController();
const unanswered = Array.from({ length: 80 }, (_, i) =>
  expand.trace(`http://silent-${i}.example/`, { signal: leave.signal }),
);
ends['beside silence'] = (await expand.trace('http://v4.example/beside-silence')).end.code;
leave.abort();
await Promise.all(unanswered);
process.stdout.write(`${JSON.stringify(ends)}\n`, () => process.exit());
