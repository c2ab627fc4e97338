/**
 * Answers `/?u=…` with the long URL, found in one of three ways: `ours`, the expander without a cache; `bare`, the
 * least code that follows redirects over keep-alive connections; `tall`, the npm package.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { tall } from 'tall';

type Follow = (url: string) => Promise<string>;

async function ours(): Promise<Follow> {
  const { createExpander } = await import('../../../expander/src/expander.ts');
  const { readConfig } = await import('../../../expander/src/config.ts');
  const noop = () => {};
  const config = readConfig({ EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' });
  const { expand } = createExpander(config, {
    redis: { get: async () => null, set: async () => 'OK' } as never,
    log: { debug: noop, info: noop, warn: noop, error: noop, fatal: noop },
  });
  const expandUrl = promisify(expand);
  return async (url) => (await expandUrl(url)).longUrl ?? '';
}

function bare(): Follow {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const head = (url: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      http.request(url, { method: 'HEAD', agent }, resolve).on('error', reject).end();
    });
  return async (url) => {
    for (let current = url; ; ) {
      const response = await head(current);
      response.resume();
      const { location } = response.headers;
      if ((response.statusCode !== 301 && response.statusCode !== 302) || !location) return current;
      current = new URL(location, current).href;
    }
  };
}

const follow = await { ours, bare, tall: () => (url: string) => tall(url, { maxRedirects: 10 }) }[
  process.argv[2] as 'ours' | 'bare' | 'tall'
]();

const server = http.createServer((request, response) => {
  const u = new URL(request.url ?? '', 'http://localhost').searchParams.get('u') ?? '';
  follow(u).then(
    (longUrl) => response.end(longUrl),
    (error) => response.writeHead(502).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
