/**
 * Answers `/?u=…` with the long URL, found in one of five ways: `ours`, the expander without a cache; `client`, `node`
 * and `undici`, the least code that follows redirects over kept-alive connections of our HTTP client or of theirs;
 * `tall`, the npm package.
 */
import { lookup } from 'node:dns';
import http from 'node:http';
import { promisify } from 'node:util';
import { tall } from 'tall';
import { Agent, request } from 'undici';
import { serveWorker } from './serve.ts';

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

/** The status and the `Location` of a response to HEAD. */
type Head = (url: string) => Promise<{ status: number | undefined; location: string | undefined }>;

const bare =
  (head: Head): Follow =>
  async (url) => {
    for (let current = url; ; ) {
      const { status, location } = await head(current);
      if ((status !== 301 && status !== 302) || !location) return current;
      current = new URL(location, current).href;
    }
  };

async function viaClient(): Promise<Head> {
  const { plainConnector } = await import('@longhand/shared/connector.ts');
  const { httpClient } = await import('../../../expander/src/hop/http-client.ts');
  const client = httpClient({ connect: plainConnector(lookup), maxHeaderSize: 16 * 1024 });
  return async (url) => {
    const { status, headers } = await client.request(new URL(url), { method: 'HEAD' });
    return { status, location: headers.location };
  };
}

function viaNode(): Head {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  return (url) =>
    new Promise((resolve, reject) => {
      http
        .request(url, { method: 'HEAD', agent }, (response) => {
          response.resume();
          resolve({ status: response.statusCode, location: response.headers.location });
        })
        .on('error', reject)
        .end();
    });
}

function viaUndici(): Head {
  const dispatcher = new Agent({ connections: 64 });
  return async (url) => {
    // Without `reset`, undici closes the connection after each HEAD.
    const options = { method: 'HEAD', reset: false, dispatcher } as const;
    const { statusCode, headers, body } = await request(url, options);
    await body.dump();
    return { status: statusCode, location: headers.location as string | undefined };
  };
}

const ways: Record<string, () => Follow | Promise<Follow>> = {
  ours,
  client: async () => bare(await viaClient()),
  node: () => bare(viaNode()),
  undici: () => bare(viaUndici()),
  tall: () => (url) => tall(url, { maxRedirects: 10 }),
};
const follow = await (ways[process.argv[2] ?? ''] as () => Follow)();

const server = http.createServer((request, response) => {
  const u = new URL(request.url ?? '', 'http://localhost').searchParams.get('u') ?? '';
  follow(u).then(
    (longUrl) => response.end(longUrl),
    (error) => response.writeHead(502).end(String(error)),
  );
});
serveWorker(server);
