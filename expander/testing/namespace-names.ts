import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import http2, { type Http2ServerResponse } from 'node:http2';
import tls from 'node:tls';
import { createLog } from '@longhand/shared/log.ts';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { readConfig } from '../src/config.ts';
import { createExpander } from '../src/expander.ts';
import { rcodes, startNameServer } from './name-server.ts';

/**
 * Runs in a network namespace whose loopback interface has these addresses. Expands a URL for each name. Prints the results
 * and the contacted addresses as a line of JSON. The first argument is the protocol: `http` or `HTTP/2`.
 */
const isPlain = process.argv[2] === 'http';
const [v4, v6, private4, private6] = ['93.184.216.34', '2606:2800:220:1::1', '10.0.0.1', 'fd00::1'];
const names: Record<string, string[]> = {
  'v4.example': [v4],
  'v6.example': [v6],
  'mixed.example': [v4, private4],
  'other-family.example': [v4, private6],
  'rebound.example': [v4],
};
const server = (known: typeof names, host: string) =>
  startNameServer(
    ({ name }) => (known[name] ? { addresses: known[name] } : { rcode: rcodes.NXDOMAIN }),
    host,
    53,
  );
await server(names, '127.0.0.1');

const certificate = await testCertificate(...Object.keys(names), 'moved-0.example', 'moved-1.example');
if (!isPlain) tls.setDefaultCACertificates([certificate.cert]);
const webServer = (answer: RequestListener) =>
  isPlain ? createServer(answer) : http2.createSecureServer(certificate, answer as never);

const contacted: string[] = [];
for (const address of [v4, v6, private4, private6]) {
  const web = webServer(({ url, headers }, response) => {
    const host = `${headers.host ?? headers[':authority']}`;
    // Close the connection, so that the redirect needs a new lookup and connection.
    if (isPlain) response.setHeader('Connection', 'close');
    else (response as unknown as Http2ServerResponse).stream.session?.close();
    if (host === 'rebound.example') names[host] = [private4];
    if (url === '/') response.writeHead(302, { Location: '/next' });
    response.end();
  });
  web.on('connection', () => contacted.push(address));
  await listening(web, address, isPlain ? 80 : 443);
}

const { expand } = createExpander(readConfig({}), { log: createLog('expander', 'silent') });
const scheme = isPlain ? 'http' : 'https';
const ends: Record<string, unknown> = {};
for (const name of Object.keys(names)) {
  contacted.length = 0;
  const { end, redirectCount } = await expand.chain(`${scheme}://${name}/`);
  ends[name] = { end: end.code, redirectCount, contacted: [...contacted] };
}

const resolvConf = '/etc/resolv.conf';
for (const [i, file] of [resolvConf, `${resolvConf}.new`].entries()) {
  const name = `moved-${i}.example`;
  const host = `127.0.0.${2 + i}`;
  await server({ [name]: [v4] }, host);
  // Failures are cached, so each call needs a new URL.
  const look = async (path: string) => {
    const { end } = await expand.chain(`${scheme}://${name}/${path}`);
    return end.reason ?? end.code;
  };
  const before = await look('before');
  writeFileSync(file, `nameserver ${host}\n`);
  renameSync(file, resolvConf);
  const change = file === resolvConf ? 'overwritten' : 'replaced';
  ends[`after resolv.conf is ${change}`] = [before, await look('after')];
}
process.stdout.write(`${JSON.stringify(ends)}\n`, () => process.exit());
